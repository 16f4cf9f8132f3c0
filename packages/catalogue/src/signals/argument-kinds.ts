// Arguments of an input schema that tell something of the tool, by their names: an amount, a program, a place to save
// to. Names are told without regard to case, and with or without underscores.

import { alternatives, group, sequence } from '@sluice/policy/readers/join-patterns'
import { toWords } from '@sluice/policy/structures/word-set'

/** The expressions of names, by what an argument of such a name is. The feature is `arg:KIND`. */
export const ARGUMENT_KINDS = {
  sql: named('sql sql_?query sql_?statement statements? cypher aql'),
  program: named(`
    command cmd commands shell script code javascript js python expression function program
    source_?code entrypoint cli_?args
  `),
  money: new RegExp(
    alternatives([
      whole(String.raw`
        amt total sz px side ccy leverage lever slippage\w* private_?key to_?address recipient_?address
        payee subscription(?:_?id)? new_?sz new_?px token_?address order_?type ord_?type ord_?id
        capture_?id plan_?id
      `),
      /(?:^|_|[a-z](?=[A-Z]))(?:amount|price|currency|payment|billing|refund|charge|payout|invoice)(?:$|_|[A-Z])/,
    ]),
    'i',
  ),
  paging: named(String.raw`
    page limit offset cursor per_?page page_?size page_?token max_?results? sort sort_?by
    order_?by order filter filters fields since until start_?time end_?time start_?date
    end_?date jq_?filter verbose include\w* num_?results count skip top after before lines
    expand starting_after next_?token
  `),
  query: named(`
    query q search search_?query keywords? search_?term pattern question term prompt
  `),
  payload: named(String.raw`
    body content contents data text title message values? properties payload request_?body
    requests items inputs? new_?\w+ updates? fields_?to_?update attributes settings config
    summary comment subject due_?\w* color label_?ids labels tags assignee\w* status priority
    note notes
  `),
  worst: named(String.raw`
    force permanent permanently hard_?delete cascade recursive purge skip_?trash delete_?\w+
    destroy\w* overwrite prune wipe confirm confirm_?delete confirmed are_?you_?sure yes
  `),
  file: named(String.raw`
    file_?path file_?name path dir(?:ectory)? folder download\w*dir save\w* output_?directory
    local\w*
  `),
  empties: named(String.raw`
    truncate\w* (?:replace|delete|clear|drop|remove|wipe)_?(?:all|existing|first|target)
  `),
  cost: named(String.raw`confirm_?cost\w* max_?(?:price|cost) accept_?(?:cost|charges?)`),
  plan: named(String.raw`
    plan plan_?type new_?plan tier seats \w*_?seats quantity price_?id proration\w*
    billing_?cycle
  `),
  spend: new RegExp(
    alternatives([
      /^(?:(?:daily|lifetime|total|new|campaign)_?)?budget(?:_?(?:amount|value|micros|cents))?$/,
      /^(?:\w+_?)?bid_?(?:amount|micros|value)$/,
      /^bid$/,
      /^spend_?cap$/,
      /^dailyBudgetAmount$/,
    ]),
    'i',
  ),
  buyer: named(String.raw`
    customer_?(?:name|email|phone) billing_?\w* shipping_?\w* buyer\w* card_?id
    payment_?(?:method|type|info)(?:_?id)? payer\w* adults travell?ers passengers tip_?amount
    check_?in check_?out
  `),
  payee: new RegExp(
    sequence(
      /^/,
      /(?:spender|payee|beneficiary|recipient|destination|receiver|to_?account|from_?account|origin|source_?account)/,
      /(?:_?(?:id|address|account|account_?id|wallet))?$/,
    ),
    'i',
  ),
  supply: /^(?:total|initial|max)_?supply$|^token_?symbol$|^royalty\w*$|^pre_?sale$/i,
  memo: /^(?:owner_?)?notes?$|^tags$|^metafields$|^tracking_?\w*$/i,
  prompt: /^prompts?$/i,
  rehearsal: named('dry_?run preview simulate validate_?only'),
  saves: named(String.raw`
    save_?path save_?to\w* output_?(?:path|directory|folder) out_?path output_?file
    output_?dir(?:_?path)? target_?(?:dir|path) downloads?_?dir destination(?:_?path)?
    local_?path download_?path dest
  `),
  output: new RegExp(
    alternatives([
      /^(?:save|write)_?to\w*$/,
      /^(?:save|download|export)_?(?:path|dir)$/,
      /^downloads_?dir$/,
      /^(?:out|output|dest|destination|target|result)_?(?:path|file|dir|directory|folder)(?:_?(?:name|path))?$/,
    ]),
    'i',
  ),
  variables: /^(?:query_?)?variables$/i,
  screen: named('selector element ref uid x y delta_?x delta_?y coordinates? key keys button'),
  method: named('http_?method method'),
} as const satisfies Readonly<Record<string, RegExp>>

/** What an argument is, by its name. */
export type ArgumentKind = keyof typeof ARGUMENT_KINDS

/** Kinds that count below the first level of a schema too; the feature is `arg.deep:KIND`. */
export const DEEP_KINDS = ['money', 'plan', 'buyer'] as const satisfies readonly ArgumentKind[]

export type DeepKind = (typeof DEEP_KINDS)[number]

/** A name that is one of these and nothing else. A word may be an expression. */
function named(list: string): RegExp {
  return new RegExp(whole(list), 'i')
}

function whole(list: string): string {
  return sequence(/^/, group(toWords(list)), /$/)
}
