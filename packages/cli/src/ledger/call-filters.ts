// Which calls a command is about: by caller, agent, session, server, tool, decision and time. Shared by
// `sluice ledger query` and `sluice ledger export`.

import type { Query } from '@sluice/ledger/query/query'
import { parseConditions } from '@sluice/ledger/records/recorded-values'
import { InputError } from '@sluice/policy/structures/operation-error'
import { readTime } from '../connect/read-option.ts'
import type { OptionsOf } from '../terminal/define-command.ts'
import { ArgumentError } from '../terminal/errors.ts'

export const CALL_FILTERS = {
  '--who <id>': 'who called: the principal',
  '--principal <id>': 'the same',
  '--agent <id>': 'which agent of that caller',
  '--session <id>': 'in which session',
  '--parent <call>': 'by the program of which call of `run_code`',
  '--approval <id>': 'that waited for which request for approval, or was made or refused by it',
  '--server <name>': 'on which server',
  '--tool <server/tool>':
    'which tool (or resource URI or prompt); without a server the tool of that name at any',
  '--where <condition>':
    'a recorded value: `args.amount > 200`, `args.currency = EUR`; several with `;`',
  '--denied': 'only what was refused: denied, limited, held, hidden',
  '--action <action>': 'allow, require_approval, deny or hide',
  '--code <code>': 'with which code, such as RATE_LIMITED',
  '--since <time>': 'not before: `15m`, `2h`, `7d` (ago), or a time',
  '--until <time>': 'not after',
} as const

export type CallFilters = OptionsOf<typeof CALL_FILTERS>

/** Without those that were not given. */
export function readCallFilters(options: CallFilters): Query {
  const { agent, denied, session, parent, approval, action, code, tool } = options
  const [named, name] = tool === undefined ? [] : split(tool)
  const server = named ?? options.server
  const filters = {
    principal: options.who ?? options.principal,
    agent,
    session,
    parent,
    approval,
    server,
    name,
    action,
    code,
    denied,
    where: readConditions(options.where),
    sinceMs: readTime(options.since, '--since'),
    untilMs: readTime(options.until, '--until'),
  }
  return Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined))
}

/** `undefined` for the server: a tool of that name at any server. */
function split(tool: string): [string | undefined, string] {
  const at = tool.indexOf('/')
  if (at > 0) return [tool.slice(0, at), tool.slice(at + 1)]
  if (at === -1 && tool !== '') return [undefined, tool]
  throw new ArgumentError(
    `\`${tool}\` is not of the form \`<server>/<tool>\``,
    'name the server before the `/`, or write the tool alone',
  )
}

/** Conditions that cannot be read are reported before anything is opened. */
function readConditions(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  let conditions: readonly unknown[]
  try {
    conditions = parseConditions(text)
  } catch (error) {
    if (error instanceof InputError)
      throw new ArgumentError(`--where: ${error.message}`, error.help)
    throw error
  }
  if (conditions.length > 0) return text
  throw new ArgumentError('--where is empty', 'write for example `args.amount > 200`')
}
