// `sluice sessions …`: which sessions there are, ending one, and a token that makes the HTTP requests of
// one client a session.

import type { JsonObject } from '@sluice/policy/core/json'
import type { Command } from 'commander'
import { isSharedCopy } from '../../gateway/data/shared-tables.ts'
import { InstallationKey } from '../../identity/keys/installation-key.ts'
import { SessionTokens } from '../../identity/sessions/session-tokens.ts'
import { CliError } from '../../terminal/errors.ts'
import type { SetExitCode } from '../../terminal/exit-code.ts'
import { Output, plural, printable } from '../../terminal/output.ts'
import { addDataOptions, type DataOptions, findData } from '../connect/find-data.ts'
import { askGate } from '../connect/gate-socket.ts'
import { addProofOption, provePerson } from '../connect/prove-person.ts'

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

export function addSessions(program: Command, answer: SetExitCode): void {
  const sessions = program.command('sessions').helpCommand(false)
  addList(sessions, answer)
  addEnd(sessions, answer)
  addToken(sessions, answer)
}

function addList(parent: Command, answer: SetExitCode): void {
  addDataOptions(parent.command('list').description('list open sessions'))
    .option('--json', 'print JSON')
    .addHelpText('after', LIST_EXAMPLES)
    .action(async (options: DataOptions) => {
      const output = new Output(options)
      const response = await ask(findData(options).data, { do: 'sessions' })
      output.value(response)
      const sessions = response.sessions as unknown as ListedSession[]
      for (const session of sessions) output.line(formatSession(session, output))
      if (sessions.length === 0) output.line('no sessions')
      answer(0)
    })
}

interface ListedSession {
  readonly id: string
  readonly name: string
  readonly connections: number
  readonly calls: number
  readonly saw: readonly string[]
}

function formatSession({ id, name, connections, calls, saw }: ListedSession, output: Output) {
  const labels = saw.length === 0 ? '' : `, has seen ${saw.join(', ')}`
  const use = `${plural(connections, 'connection')}, ${plural(calls, 'call')}${labels}`
  const short = id.slice(0, id.lastIndexOf('@'))
  return `${output.paint('bold', printable(short).padEnd(16))} ${printable(`${name}: ${use}`)}`
}

function addEnd(parent: Command, answer: SetExitCode): void {
  addProofOption(
    addDataOptions(
      parent
        .command('end')
        .description('end a session: close its connections, forget its labels')
        .argument('<id>', 'as `sluice sessions list` shows it'),
    ),
  )
    .option('--json', 'print JSON')
    .addHelpText('after', END_EXAMPLES)
    .action(async (id: string, options: DataOptions) => {
      const output = new Output(options)
      const { data } = findData(options)
      const proof = await provePerson(data, options)
      const response = await ask(data, { do: 'session-end', session: id, proof })
      output.value(response)
      output.line(`${output.paint('green', 'ended')}: ${printable(String(response.name))}`)
      answer(0)
    })
}

function addToken(parent: Command, answer: SetExitCode): void {
  addDataOptions(
    parent
      .command('token')
      .description('a token that makes the HTTP requests of one client a session'),
  )
    .option('--json', 'print JSON')
    .addHelpText('after', TOKEN_EXAMPLES)
    .action(async (options: DataOptions) => {
      const output = new Output(options)
      const { data } = findData(options)
      // The key of a cluster is not in the data directory: its gate is asked.
      const token = isSharedCopy(data)
        ? String((await ask(data, { do: 'session-token' })).token)
        : new SessionTokens(InstallationKey.at(data)).make()
      output.value({ token })
      output.line(token)
      answer(0)
    })
}

async function ask(data: string, request: JsonObject & { readonly do: string }) {
  const response = await askGate(data, request)
  if (response !== undefined) return response
  throw new CliError('CLI_GATE', 'no gate runs', 'start it with `sluice up`')
}
