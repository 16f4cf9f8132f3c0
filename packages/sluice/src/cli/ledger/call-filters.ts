// Which calls a command is about: by caller, agent, session, server, tool, decision and time. Shared by
// `sluice ledger query` and `sluice ledger export`.

import type { Command } from 'commander'
import type { Query } from '../../ledger/query/query.ts'
import { CliError } from '../../terminal/errors.ts'
import { readTime } from '../connect/read-option.ts'

export interface CallFilters {
  who?: string
  principal?: string
  agent?: string
  session?: string
  server?: string
  tool?: string
  denied?: boolean
  action?: string
  code?: string
  since?: string
  until?: string
}

export function addCallFilters(command: Command): Command {
  return command
    .option('--who <id>', 'who called: the principal')
    .option('--principal <id>', 'the same')
    .option('--agent <id>', 'which agent of that caller')
    .option('--session <id>', 'in which session')
    .option('--server <name>', 'on which server')
    .option('--tool <server/tool>', 'which tool (or resource URI or prompt)')
    .option('--denied', 'only what was refused: denied, limited, held, hidden')
    .option('--action <action>', 'allow, require_approval, deny or hide')
    .option('--code <code>', 'with which code, such as RATE_LIMITED')
    .option('--since <time>', 'not before: `15m`, `2h`, `7d` (ago), or a time')
    .option('--until <time>', 'not after')
}

/** Without those that were not given. */
export function readCallFilters(options: CallFilters): Query {
  const { agent, denied, session, action, code, tool } = options
  const [server, name] = tool === undefined ? [options.server] : split(tool)
  const filters = {
    principal: options.who ?? options.principal,
    agent,
    session,
    server,
    name,
    action,
    code,
    denied,
    sinceMs: readTime(options.since, '--since'),
    untilMs: readTime(options.until, '--until'),
  }
  return Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined))
}

function split(tool: string): [string, string] {
  const at = tool.indexOf('/')
  if (at > 0) return [tool.slice(0, at), tool.slice(at + 1)]
  throw new CliError(
    'CLI_ARGUMENT',
    `\`${tool}\` is not of the form \`<server>/<tool>\``,
    'name the server before the `/`, or use --server',
  )
}
