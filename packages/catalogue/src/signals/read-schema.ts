// What the input schema says: actions to choose from, arguments that are programs, amounts or
// switches for the worst, the arguments of a search, and a payload. Pure; bounded by the number of
// properties and their depth, because a schema is the server's.

import { isObject, type JsonObject, type JsonValue } from '@sluice/policy/core/json'
import { memoize } from '@sluice/policy/core/memoize'
import type { Category } from '@sluice/policy/core/tools'
import {
  KNOWN_ARGUMENTS_MAX,
  SCHEMA_DEPTH_MAX,
  SCHEMA_PROPERTIES_MAX,
  SCHEMA_VALUES_MAX,
} from './limits.ts'
import { readOffered } from './read-phrases.ts'
import { below, type EmitSignal } from './signal.ts'
import { classOfAct, HTTP_METHODS, worseOf } from './worst-act.ts'

/** Arguments that choose what the tool does, and those that may. */
const CHOOSES =
  /^(?:action|actions|operation|operations|op|verb|subcommand|command|method|http_?method)$/i
/** With one of these a method is that of the tool's own request. */
const REACHES = /^(?:url|uri|path|endpoint|route|api_?path)$/i
const METHOD = /^(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|PURGE|COPY|LINK|UNLINK|LOCK|UNLOCK)$/
const MAY_CHOOSE = /^(?:mode|task|function|intent|request_?type|status|state)$/i

const ARGUMENTS: Readonly<Record<string, RegExp>> = {
  'arg:sql': /^(?:sql|sql_?query|sql_?statement|statements?|cypher|aql)$/i,
  'arg:program':
    /^(?:command|cmd|commands|shell|script|code|javascript|js|python|expression|function|program|source_?code|entrypoint|cli_?args)$/i,
  'arg:money':
    /^(?:amt|total|sz|px|side|ccy|leverage|lever|slippage\w*|private_?key|to_?address|recipient_?address|payee|subscription(?:_?id)?|new_?sz|new_?px|token_?address|order_?type|ord_?type|ord_?id|capture_?id|plan_?id)$|(?:^|_|[a-z](?=[A-Z]))(?:amount|price|currency|payment|billing|refund|charge|payout|invoice)(?:$|_|[A-Z])/i,
  'arg:paging':
    /^(?:page|limit|offset|cursor|per_?page|page_?size|page_?token|max_?results?|sort|sort_?by|order_?by|order|filter|filters|fields|since|until|start_?time|end_?time|start_?date|end_?date|jq_?filter|verbose|include\w*|num_?results|count|skip|top|after|before|lines|expand|starting_after|next_?token)$/i,
  'arg:query':
    /^(?:query|q|search|search_?query|keywords?|search_?term|pattern|question|term|prompt)$/i,
  'arg:payload':
    /^(?:body|content|contents|data|text|title|message|values?|properties|payload|request_?body|requests|items|inputs?|new_?\w+|updates?|fields_?to_?update|attributes|settings|config|summary|comment|subject|due_?\w*|color|label_?ids|labels|tags|assignee\w*|status|priority|note|notes)$/i,
  'arg:worst':
    /^(?:force|permanent|permanently|hard_?delete|cascade|recursive|purge|skip_?trash|delete_?\w+|destroy\w*|overwrite|prune|wipe|confirm|confirm_?delete|confirmed|are_?you_?sure|yes)$/i,
  'arg:file':
    /^(?:file_?path|file_?name|path|dir(?:ectory)?|folder|download\w*dir|save\w*|output_?directory|local\w*)$/i,
  'arg:empties':
    /^(?:truncate\w*|(?:replace|delete|clear|drop|remove|wipe)_?(?:all|existing|first|target))$/i,
  'arg:cost': /^(?:confirm_?cost\w*|max_?(?:price|cost)|accept_?(?:cost|charges?))$/i,
  'arg:plan':
    /^(?:plan|plan_?type|new_?plan|tier|seats|\w*_?seats|quantity|price_?id|proration\w*|billing_?cycle)$/i,
  'arg:spend':
    /^(?:(?:daily|lifetime|total|new|campaign)_?)?budget(?:_?(?:amount|value|micros|cents))?$|^(?:\w+_?)?bid_?(?:amount|micros|value)$|^bid$|^spend_?cap$|^dailyBudgetAmount$/i,
  'arg:buyer':
    /^(?:customer_?(?:name|email|phone)|billing_?\w*|shipping_?\w*|buyer\w*|card_?id|payment_?(?:method|type|info)(?:_?id)?|payer\w*|adults|travell?ers|passengers|tip_?amount|check_?in|check_?out)$/i,
  'arg:payee':
    /^(?:spender|payee|beneficiary|recipient|destination|receiver|to_?account|from_?account|origin|source_?account)(?:_?(?:id|address|account|account_?id|wallet))?$/i,
  'arg:supply': /^(?:total|initial|max)_?supply$|^token_?symbol$|^royalty\w*$|^pre_?sale$/i,
  'arg:memo': /^(?:owner_?)?notes?$|^tags$|^metafields$|^tracking_?\w*$/i,
  'arg:prompt': /^prompts?$/i,
  'arg:rehearsal': /^(?:dry_?run|preview|simulate|validate_?only)$/i,
  'arg:saves':
    /^(?:save_?path|save_?to\w*|output_?(?:path|directory|folder)|out_?path|output_?file|output_?dir(?:_?path)?|target_?(?:dir|path)|downloads?_?dir|destination(?:_?path)?|local_?path|download_?path|dest)$/i,
  'arg:output':
    /^(?:save|write)_?to\w*$|^(?:save|download|export)_?(?:path|dir)$|^downloads_?dir$|^(?:out|output|dest|destination|target|result)_?(?:path|file|dir|directory|folder)(?:_?(?:name|path))?$/i,
  'arg:variables': /^(?:query_?)?variables$/i,
  'arg:screen':
    /^(?:selector|element|ref|uid|x|y|delta_?x|delta_?y|coordinates?|key|keys|button)$/i,
  'arg:method': /^(?:http_?method|method)$/i,
}

const ARGUMENT_FEATURES = Object.keys(ARGUMENTS)

export function readSchema(schema: JsonValue | undefined, tell: EmitSignal): void {
  const walk = { left: SCHEMA_PROPERTIES_MAX, names: 0, ids: 0, tell }
  readObject(schema, { key: 'inputSchema' }, 0, walk)
  const whole = { at: '/inputSchema', start: 0, end: 0 }
  if (walk.names === 0) tell('args:none', whole)
  else if (walk.ids === walk.names) tell('args:only an id', whole)
}

interface SchemaWalk {
  left: number
  names: number
  ids: number
  readonly tell: EmitSignal
}

/** A place in the schema; its pointer is written only where something is told. */
interface SchemaPath {
  readonly up?: SchemaPath
  readonly key: string
}

function pointerOf({ up, key }: SchemaPath): string {
  return below(up === undefined ? '' : pointerOf(up), key)
}

function readObject(
  schema: JsonValue | undefined,
  path: SchemaPath,
  depth: number,
  walk: SchemaWalk,
): void {
  if (!isObject(schema) || depth > SCHEMA_DEPTH_MAX) return
  if (isObject(schema.properties)) readProperties(schema.properties, path, depth, walk)
  if (isObject(schema.items)) readObject(schema.items, { up: path, key: 'items' }, depth + 1, walk)
  for (const key of ALTERNATIVES) {
    const list = schema[key]
    if (!Array.isArray(list)) continue
    const up = { up: path, key }
    list.forEach((item: JsonValue, index) => {
      readObject(item, { up, key: String(index) }, depth + 1, walk)
    })
  }
}

const ALTERNATIVES = ['anyOf', 'oneOf', 'allOf']

function readProperties(
  properties: JsonObject,
  path: SchemaPath,
  depth: number,
  walk: SchemaWalk,
): void {
  const names = Object.keys(properties)
  const up = { up: path, key: 'properties' }
  for (const name of names) {
    if (walk.left-- <= 0) return
    const property = properties[name] as JsonValue
    const here: SchemaPath = { up, key: name }
    if (depth === 0) {
      walk.names++
      if (NAMES_A_THING.test(name)) walk.ids++
    }
    const { features, chooses, switches, effect } = argumentOf(name)
    if (features.length > 0) tellArgument(features, here, depth, walk.tell)
    if (switches && depth === 0 && isObject(property) && property.type === 'boolean')
      walk.tell('arg:acts', { at: pointerOf(here), start: 0, end: 0 })
    if (effect !== undefined && depth === 0 && isObject(property) && hasEffect(effect, property))
      walk.tell('arg:has an effect', { at: pointerOf(here), start: 0, end: 0 })
    // `repeat.method`, `webhook.method`: how a part of it works, not what the tool does.
    if (chooses && isObject(property) && !(depth > 0 && name === 'method')) {
      const reaches = names.some((key) => REACHES.test(key))
      readChoices(name, property, pointerOf(here), reaches, walk.tell)
    }
    readObject(property, here, depth + 1, walk)
  }
}

function tellArgument(
  features: readonly string[],
  here: SchemaPath,
  depth: number,
  tell: EmitSignal,
): void {
  const place = { at: pointerOf(here), start: 0, end: 0 }
  if (depth === 0) for (const feature of features) tell(feature, place)
  else for (const [feature, deep] of DEEP) if (features.includes(feature)) tell(deep, place)
}

/** A switch by which a tool that reads does more: `fix`, `save`, `auto_assign`. */
const SWITCH =
  /^(?:fix|apply|apply_?fix(?:es)?|auto_?(?:fix|assign|dispatch|apply|start|create|merge|deploy|commit)|persist|save|save_?(?:state|file|png|results?|output|to_?\w+)|write|commit|push|upsert|delete|remove|update|force_?training|notify|submit)$/i

/** Arguments by whose name a tool that reads may do more: as a switch, as a text, by a value to choose. */
const EFFECTS = {
  text: /^(?:ack_?mode|append|tag_?results|replace_?with|replacement|rewrite|substitute|callback_?url|(?:email|send|post|forward|publish)_?to(?:_\w+)?|click_?selector)$/i,
  switch:
    /^(?:auto_?)?(?:[Mm]ark|[Dd]elete|[Cc]reate|[Aa]ck|[Aa]cknowledge|[Ll]ock|[Uu]nlock|[Cc]heckout|[Rr]eset|[Rr]enew|[Rr]estart|[Rr]erun|[Rr]eboot|[Rr]etry|[Pp]ower|[Pp]ublish|[Ww]rite|[Kk]ill|[Pp]urge|[Pp]rune|[Ee]mpty|[Ss]end|[Pp]ost|[Nn]otify|[Ee]mail|[Ss]ubscribe|[Aa]ccept|[Aa]pprove|[Aa]pply|[Cc]lose|[Ii]nstall|[Dd]eploy|[Uu]pgrade|[Rr]epair|[Mm]igrate|[Aa]ctivate|[Aa]ssign|[Rr]etrain|[Rr]egister|[Ee]xecute|[Bb]uy|[Cc]laim|[Tt]urn|[Ss]et|[Mm]ake|[Qq]uarantine|[Ss]hortlist|[Ww]ake|[Rr]otate|[Dd]rain)(?![a-z])|^clear(?![A-Za-z])|^complete_all|^(?:enable|run)$/,
  choice: /^(?:on|if|after|then|do|cmd|ack)(?:_|$)/i,
}
type ArgumentEffect = keyof typeof EFFECTS
const EFFECT_NAMES = Object.keys(EFFECTS) as ArgumentEffect[]

function hasEffect(effect: ArgumentEffect, property: JsonObject): boolean {
  if (effect === 'text' || (effect === 'switch' && property.type === 'boolean')) return true
  if (
    effect === 'choice' &&
    choicesOf(property, '').some(({ value }) => (classOfAct(value) ?? 'Read') !== 'Read')
  )
    return true
  return effect === 'choice' && TOLD_CHOICE.test(String(property.description))
}

const TOLD_CHOICE = /\b(?:create|delete|remove|archive|add|register)\b/i

/** What counts below the first level too. */
const DEEP = [
  ['arg:money', 'arg.deep:money'],
  ['arg:plan', 'arg.deep:plan'],
  ['arg:buyer', 'arg.deep:buyer'],
] as const

const NAMES_A_THING = /(?:^|_|[a-z])(?:id|ids|uuid|key|name|slug|project|owner|repo|team)s?$/i

interface Argument {
  readonly features: readonly string[]
  readonly chooses: boolean
  readonly switches: boolean
  readonly effect: ArgumentEffect | undefined
}

/** The same names come again and again. */
const argumentOf = memoize(
  (name): Argument => ({
    features: ARGUMENT_FEATURES.filter((feature) => ARGUMENTS[feature]?.test(name)),
    chooses: CHOOSES.test(name) || MAY_CHOOSE.test(name),
    switches: SWITCH.test(name),
    effect: EFFECT_NAMES.find((effect) => EFFECTS[effect].test(name)),
  }),
  KNOWN_ARGUMENTS_MAX,
)

/** The worst of the actions a caller may choose from. */
function readChoices(
  name: string,
  property: JsonObject,
  at: string,
  reaches: boolean,
  tell: EmitSignal,
): void {
  const sure = CHOOSES.test(name)
  const choices = choicesOf(property, at)
  // `add` beside `remove` takes back what it did; any method on any path is a request at will.
  const adds = choices.some(({ value }) => /^add/i.test(value))
  const toCategory = (value: string): Category | undefined => {
    if (adds && /^remove/i.test(value)) return 'Write'
    if (METHOD.test(value) && reaches) return value === 'DELETE' ? 'Execute' : HTTP_METHODS[value]
    return classOfAct(value)
  }
  let worst: Category | undefined
  let known = 0
  for (const { value } of choices) {
    // A method of somebody's webhook is no choice of this tool's act.
    if (METHOD.test(value) && !reaches) continue
    if (toCategory(value) !== undefined) known++
    worst = worseOf(toCategory(value), worst)
  }
  if (worst !== undefined && known * 3 >= choices.length)
    for (const { value, place } of choices)
      if (toCategory(value) === worst)
        tell(`${sure ? 'choice' : 'mode'}:${worst}`, { at: place, start: 0, end: value.length })
  if (choices.length === 0 && sure && typeof property.description === 'string')
    readOffered(`actions: ${property.description}`, below(at, 'description'), tell, 'choice')
}

export interface SchemaChoice {
  readonly value: string
  readonly place: string
}

/** What an argument may be: `enum`, `const`, alternatives of these, or members named as acts. */
export function choicesOf(property: JsonObject, at: string): SchemaChoice[] {
  const choices: SchemaChoice[] = []
  const list = property.enum
  if (Array.isArray(list))
    list.slice(0, SCHEMA_VALUES_MAX).forEach((value: JsonValue, index) => {
      if (typeof value === 'string') choices.push({ value, place: `${at}/enum/${index}` })
    })
  if (typeof property.const === 'string')
    choices.push({ value: property.const, place: below(at, 'const') })
  for (const key of ['anyOf', 'oneOf']) {
    const options = property[key]
    if (!Array.isArray(options)) continue
    options.slice(0, SCHEMA_VALUES_MAX).forEach((option: JsonValue, index) => {
      if (isObject(option)) choices.push(...choicesOf(option, `${at}/${key}/${index}`))
    })
  }
  const { items } = property
  if (isObject(items)) {
    choices.push(...choicesOf(items, below(at, 'items')))
    if (isObject(items.properties))
      for (const key of Object.keys(items.properties).slice(0, SCHEMA_VALUES_MAX))
        if (/^[a-z]+_/.test(key) && classOfAct(key) !== undefined)
          choices.push({ value: key, place: below(`${at}/items/properties`, key) })
  }
  return choices
}
