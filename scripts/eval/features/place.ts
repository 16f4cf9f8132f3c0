// What the rows of `npm run eval -- features` work on: a gate with servers of every kind, clients at it, a
// person with a PIN, and commands as a user types them.

import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { askGate } from '../../../packages/cli/src/connect/gate-socket.ts'
import { type FixtureServer, serveFixture } from '../../../test/support/fixture-server.ts'
import { makePerson, PIN } from '../../../test/support/person.ts'
import { PlainClient } from '../../../test/support/plain-client.ts'
import {
  endGates,
  fixture,
  NODE,
  type RunningGate,
  SLUICE,
  startGate,
} from '../../../test/support/start-gate.ts'

export const WINDOW_SECONDS = 2

const POLICY = `
version: 1
default: deny
labels: { office/read_file: [private] }
answers: { office/list_odd: { redact: [secret, card, email] } }
tools:
  agents/*: allow
  newer/*: allow
  shifty/*: allow
  up/read: { action: allow, rate_limit: { max: 3, window: ${WINDOW_SECONDS} } }
  up/write: { action: allow, when: "args.n < 10", extra_args: allow }
  up/slow: { action: deny, reason: not by an agent }
  office/*: allow
  office/delete_all: require_approval
guardrails:
  - { name: watch, match: { tools: [ up/write ] }, action: deny, mode: shadow, reason: later }
  - { name: stays, match: { tools: [ office/send_mail ] }, when: session.saw.private, action: deny }
  - { name: keys, match: { tools: [ office/fetch_page ] }, when: session.saw.secret, action: deny }
`
const TURNS = [
  { toolCalls: [{ name: 'write_todos', input: { todos: ['one', 'two'] } }], delayMs: 400 },
  { toolCalls: [{ name: 'up__write', input: { n: 1 } }] },
  { text: 'done' },
]

export interface Place {
  readonly gate: RunningGate
  /** What the server `up` was made to do, a line for each call. */
  readonly log: string
  /** The definitions that the server `shifty` lists. */
  readonly shifty: string
  readonly up: PlainClient
  readonly agents: PlainClient
  /** What an earlier row made. */
  readonly made: { id?: string }
}

const PROOF = { name: 'ann', pin: PIN }

export async function withPlace(work: (place: Place) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-features-'))
  const [log, shifty] = [join(folder, 'up.log'), join(folder, 'shifty.json')]
  writeFileSync(log, '')
  list(shifty, 'Drops all items')
  let newer: FixtureServer | undefined
  try {
    newer = await serveFixture('stateless')
    const servers = {
      agents: { builtin: 'agents' as const },
      up: fixture('counter', log),
      office: fixture('office'),
      shifty: fixture('shifty', shifty),
      newer: { url: newer.url },
    }
    const gate = await startGate({ servers, policy: POLICY })
    mkdirSync(join(gate.data, 'scripts'), { recursive: true })
    writeScript(gate, 'story', TURNS)
    await makePerson(gate.data)
    const [up, agents] = [
      await PlainClient.open(gate, 'up'),
      await PlainClient.open(gate, 'agents'),
    ]
    await work({ gate, log, shifty, up, agents, made: {} })
  } finally {
    await endGates()
    newer?.process.kill()
    rmSync(folder, { recursive: true, force: true })
  }
}

export function writeScript(gate: RunningGate, name: string, turns: readonly object[]): void {
  mkdirSync(join(gate.data, 'scripts'), { recursive: true })
  writeFileSync(join(gate.data, 'scripts', `${name}.json`), JSON.stringify({ turns }))
}

/** The one tool of the server `shifty`. */
export function list(file: string, description: string): void {
  const inputSchema = { type: 'object', properties: {} }
  writeFileSync(file, JSON.stringify([{ name: 'drop_items', description, inputSchema }]))
}

/** A word on the socket of the gate, with the PIN of its admin. */
// biome-ignore lint/suspicious/noExplicitAny: taken apart by the rows
export async function askAsPerson(gate: RunningGate, request: { do: string }): Promise<any> {
  return askGate(gate.data, { ...request, proof: PROOF })
}

export async function tools(client: PlainClient): Promise<string[]> {
  const { answer } = await client.ask('tools/list')
  return answer.result.tools.map(({ name }: { name: string }) => name)
}

export async function callText(
  client: PlainClient,
  name: string,
  args: object = {},
): Promise<string> {
  const { answer } = await client.call(name, args)
  return answer.error?.message ?? answer.result.content[0].text
}

/** The gate's word on a call; undefined if it passed. */
export async function decisionOn(
  client: PlainClient,
  name: string,
  args: object = {},
): Promise<{ code: string; approvalId?: string } | undefined> {
  const { answer } = await client.call(name, args)
  return (answer.error?.data ?? answer.result?._meta)?.['sluice/decision']
}

export async function agent(
  { agents, made }: Place,
  word: string,
  more: object = {},
  // biome-ignore lint/suspicious/noExplicitAny: taken apart by the rows
): Promise<any> {
  return JSON.parse(await callText(agents, `wasm_agent_${word}`, { agentId: made.id, ...more }))
}

export interface CommandResult {
  readonly code: number
  readonly out: string
  /** All that it said. */
  readonly text: string
}

/** A command as a user types it, in the folder of the gate. */
export function command({ gate }: Place, ...args: string[]): Promise<CommandResult> {
  return new Promise((resolve) => {
    const options = { cwd: gate.folder, maxBuffer: 64 * 1_048_576 }
    execFile(NODE, [SLUICE, ...args], options, (error, out, err) => {
      resolve({ code: Number(error?.code ?? 0), out, text: `${out}${err}` })
    })
  })
}

/** Whether a command succeeds and says this. */
export async function says(place: Place, args: readonly string[], text: RegExp): Promise<boolean> {
  const result = await command(place, ...args)
  return result.code === 0 && text.test(result.text)
}
