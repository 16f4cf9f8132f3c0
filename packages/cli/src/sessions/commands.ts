// `sluice sessions …`: which sessions there are, ending one, and a token that makes the HTTP requests of
// one client a session.

import { InstallationKey } from '@sluice/access/identity/keys/installation-key'
import { SessionTokens } from '@sluice/access/identity/sessions/session-tokens'
import { isSharedCopy } from '@sluice/gateway/data/shared-tables'
import {
  END_SESSION,
  LIST_SESSIONS,
  type ListedSession,
  MAKE_SESSION_TOKEN,
} from '@sluice/gateway/operations/sessions'
import type { Command } from 'commander'
import { addOperationCommand } from '../connect/ask-operation.ts'
import type { SetExitCode } from '../terminal/exit-code.ts'
import { type Output, plural, printable } from '../terminal/output.ts'

const LIST_EXAMPLES = `
Examples:
  sluice sessions list
  sluice sessions list --json

Labels and limits with \`per: session\` belong to a session. What a client says of itself is shown as its own
word.`

const END_EXAMPLES = `
Examples:
  sluice sessions end local#3

Closes the connections of the session and forgets what it has seen: the next one of the same client begins
empty. Asks for your PIN at the terminal; the one who ends it has the role policy-manager or admin.`

const TOKEN_EXAMPLES = `
Examples:
  sluice sessions token
  curl -H "Sluice-Session: TOKEN" …
  http://127.0.0.1:7433/mcp/notes?sluice_session=TOKEN

All HTTP requests and MCP sessions of a principal that carry the same token are one session. It is not a secret:
it lets nobody in.`

export function add(program: Command, answer: SetExitCode): void {
  const parent = program.command('sessions').helpCommand(false)
  addOperationCommand(parent, answer, {
    row: LIST_SESSIONS,
    examples: LIST_EXAMPLES,
    print: ({ sessions }, output) => {
      for (const session of sessions) output.line(formatSession(session, output))
      if (sessions.length === 0) output.line('no sessions')
    },
  })
  addOperationCommand(parent, answer, {
    row: END_SESSION,
    args: { session: '<id>' },
    examples: END_EXAMPLES,
    print: ({ name }, output) =>
      output.line(`${output.paint('green', 'ended')}: ${printable(name)}`),
  })
  addOperationCommand(parent, answer, {
    row: MAKE_SESSION_TOKEN,
    examples: TOKEN_EXAMPLES,
    // The key of a cluster is not in the data directory: its gate is asked.
    ask: async (client) =>
      isSharedCopy(client.place.data)
        ? client.ask(MAKE_SESSION_TOKEN, {})
        : { token: new SessionTokens(InstallationKey.at(client.place.data)).make() },
    value: ({ token }) => ({ token }),
    print: ({ token }, output) => output.line(token),
  })
}

function formatSession(session: ListedSession, output: Output) {
  const { id, name, connections, calls, tokens, cost, saw } = session
  const labels = saw.length === 0 ? '' : `, has seen ${saw.join(', ')}`
  const price = cost === '0' ? '' : `, cost ${cost}`
  const use = `${plural(connections, 'connection')}, ${plural(calls, 'call')}, ${plural(tokens, 'token')}${price}${labels}`
  const short = id.slice(0, id.lastIndexOf('@'))
  return `${output.paint('bold', printable(short).padEnd(16))} ${printable(`${name}: ${use}`)}`
}
