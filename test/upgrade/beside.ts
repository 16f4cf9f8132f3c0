// A gate of another version beside one of this version on one PostgreSQL, as during a rolling upgrade: limits of a caller
// are exact over both, an approval of one is used once at the other, a label holds at both, the older gate is replaced under
// load and no call is lost, a freeze holds at both, both chains verify, and every record has the name of the caller.

import { spawnSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../support/modules.ts'
import { PIN, runAtTerminal } from '../support/person.ts'
import { PlainClient } from '../support/plain-client.ts'
import { CLUSTER_KEY, type RunningPostgres } from '../support/postgres.ts'
import { sluiceJson } from '../support/run-sluice.ts'
import { IS_FULL, rounds } from '../support/runs.ts'
import {
  fixture,
  type GateSpec,
  NODE,
  type RunningGate,
  SLUICE,
  startGate,
  until,
} from '../support/start-gate.ts'
import { unpackFolder } from './archive.ts'
import { FIXTURES } from './story.ts'

const MAX = 25
const POLICY = `version: 1
default: allow
labels: { count/fail: [private] }
tools:
  count/write: { action: allow, rate_limit: { max: ${MAX}, window: 1h, per: principal } }
  count/slow: { action: require_approval, approval: { wait: 1s } }
guardrails:
  - name: private data stays in
    match: { tools: [count/write] }
    when: session.saw.private
    action: deny
    reason: it has read private data
`
const CALLER = 'ann.smith@example.com'
/** Below node_modules, where the packages are found. */
const COMMANDS = join(ROOT, 'node_modules/.cache/sluice-versions')
/** Each has a session and its server. */
const WORKERS = IS_FULL ? 3 : 1
/** Between the calls of a worker while a gate is replaced: the more often, the more of them are open at each moment. */
const PAUSE_MS = 80 / rounds(8)

/** The command of a version, unpacked. */
function unpackCommand(version: string): string {
  const archive = join(FIXTURES, `${version}-command.br`)
  const folder = join(COMMANDS, hash('sha256', readFileSync(archive)).slice(0, 16))
  const command = join(folder, 'bin/sluice.js')
  if (existsSync(command)) return command
  const draft = `${folder}-${process.pid}`
  unpackFolder(archive, draft)
  try {
    renameSync(draft, folder)
  } catch {
    // Another run was faster.
    rmSync(draft, { recursive: true })
  }
  return command
}

interface BesideSize {
  readonly calls: number
  /** Goes on after these calls until the time has passed. */
  readonly forMs?: number
  readonly onCalls?: (calls: number) => void
}

/** Returns what was wrong. */
export async function runBeside(
  server: RunningPostgres,
  version: string,
  { calls, forMs = 0, onCalls }: BesideSize,
): Promise<string[]> {
  const database = `beside_${version}`
  await server.createDatabase(database)
  const folder = mkdtempSync(join(tmpdir(), 'sluice-beside-'))
  const log = join(folder, 'calls')
  const start = (name: string, more: Pick<GateSpec, 'folder' | 'program'>): Promise<RunningGate> =>
    startGate({
      ...more,
      servers: { count: fixture('counter', log) },
      policy: POLICY,
      config: { store: server.url(database), cluster: { name, key: CLUSTER_KEY } },
    })
  const program = unpackCommand(version)
  const before = await start('before', { program })
  const gates: [RunningGate, RunningGate] = [before, await start('after', {})]
  const wrong: string[] = []
  const expectEqual = (what: string, is: unknown, should: unknown): void => {
    if (is !== should) wrong.push(`${what}: ${is} and not ${should}`)
  }
  try {
    const callers: Callers = { gates, token: await grantAccess(gates, program) }
    const { answered, number } = await callBoth(callers, calls, performance.now() + forMs)
    onCalls?.(number)
    const passed = await holdAndApprove(callers, [program, SLUICE])
    const marked = await markSessions(callers, [program, SLUICE])
    const replaced = await callWhile(callers, async () => {
      expectEqual('exit code of the older gate', await before.stop(), 0)
      gates[0] = await start('before', { folder: before.folder })
    })
    for (const session of marked)
      for (const gate of gates) {
        const { text } = await (await open({ ...callers, session }, gate)).call('write')
        const isDenied = text.includes('it has read private data')
        expectEqual('a label of the other gate holds', isDenied, true)
      }
    const { write = 0, read = 0, slow = 0 } = countCalls(log)
    expectEqual('calls of `write` that arrived', write, MAX)
    expectEqual('calls of `read` that arrived', read, answered + replaced)
    expectEqual('approved calls that passed', passed, 2)
    expectEqual('approved calls that arrived', slow, 2)
    await sluiceJson(['freeze', '--data', gates[1].data])
    for (const gate of gates) {
      const client = new PlainClient(gate, 'count')
      client.token = callers.token
      const { text } = await client.initialize()
      expectEqual('a session after the freeze is refused', text.includes('FROZEN'), true)
    }
    for (const gate of gates) expectEqual('exit code of a gate', await gate.stop(), 0)
    const { ok } = await sluiceJson(['ledger', 'verify', '--store', server.url(database)])
    expectEqual('the ledger verifies', ok, true)
    const sql = `select count(*) from calls where principal <> '${CALLER}'`
    const query = ['ledger', 'query', '--store', server.url(database), '--sql', sql]
    expectEqual('calls without the name', (await sluiceJson(query)).rows[0][0], 0)
    return wrong
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A caller that both gates know. */
interface Callers {
  readonly gates: readonly [RunningGate, RunningGate]
  /** Of its grant. */
  readonly token: string
  /** A token of `sluice sessions token`. */
  readonly session?: string
}

function open({ session, token }: Callers, gate: RunningGate): Promise<PlainClient> {
  const server = session === undefined ? 'count' : `count?sluice_session=${session}`
  return PlainClient.open(gate, server, undefined, token)
}

/** Runs a command of a person in a terminal. */
async function typeAt(program: string, args: readonly string[]): Promise<string> {
  const { code, text } = await runAtTerminal(args, [PIN, PIN], undefined, program)
  if (code !== 0) throw new Error(text)
  return text
}

/** The first PIN and a grant, both made at the first gate and for all of the store. */
async function grantAccess([gate, other]: Callers['gates'], program: string): Promise<string> {
  await typeAt(program, ['approvers', 'pin', '--data', gate.data])
  const config = ['--config', join(gate.folder, 'sluice.yaml'), '--json']
  const text = await typeAt(program, ['grants', 'add', CALLER, '--policy', 'policy', ...config])
  const [, token] = /"token":\s*"([^"]+)"/.exec(text) ?? []
  if (token === undefined) throw new Error(text)
  await until(async () => {
    const client = new PlainClient(other, 'count')
    client.token = token
    return (await client.initialize()).status === 200
  })
  return token
}

/** Two sessions, one of each gate, that have read private data there. */
function markSessions(
  callers: Callers,
  programs: readonly [string, string],
): Promise<readonly string[]> {
  return Promise.all(
    callers.gates.map(async (gate, at) => {
      const args = [programs[at] ?? '', 'sessions', 'token', '--data', gate.data]
      const session = spawnSync(NODE, args, { encoding: 'utf8' }).stdout.trim()
      await (await open({ ...callers, session }, gate)).call('fail')
      return session
    }),
  )
}

/** Half of the calls are `read`: those are all answered. */
async function callBoth(callers: Callers, calls: number, untilMs: number) {
  let number = 0
  let answered = 0
  const work = async (gate: RunningGate): Promise<void> => {
    const client = await open(callers, gate)
    while (number < calls || performance.now() < untilMs) {
      const name = ++number % 2 === 0 ? 'read' : 'write'
      const { answer, text } = await client.call(name, { number })
      const code = answer.result?._meta?.['sluice/decision']?.code
      if (name === 'read' && code === undefined && answer.result !== undefined) answered++
      else if (name === 'read' || (code ?? 'RATE_LIMITED') !== 'RATE_LIMITED') throw new Error(text)
    }
  }
  const workers = callers.gates.flatMap((gate) => Array.from({ length: WORKERS }, () => work(gate)))
  await Promise.all(workers)
  return { answered, number }
}

/** Calls both gates until `change` has replaced one of them and it serves; returns how many calls were answered. A client
 * whose gate is gone, or whose session was that of the gate before, begins again. */
async function callWhile(callers: Callers, change: () => Promise<void>): Promise<number> {
  const { gates } = callers
  let answered = 0
  let isOver = false
  const callOn = async (at: number): Promise<void> => {
    let client: PlainClient | undefined
    while (!isOver) {
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
      try {
        client ??= await open(callers, gates[at] as RunningGate)
        const { answer, status, text } = await client.call('read')
        if (answer?.result !== undefined && answer.result.isError !== true) answered++
        // Not sent: the session is over, or the gate is stopping.
        else if (status === 404 || text.includes('the gate is stopping')) client = undefined
        else throw new Error(`${status} ${text}`)
      } catch (error) {
        if (!(error instanceof TypeError)) throw error
        client = undefined
      }
    }
  }
  const calling = gates.flatMap((_, at) => Array.from({ length: WORKERS }, () => callOn(at)))
  const all = Promise.all(calling)
  await Promise.race([change(), all])
  const before = answered
  await until(() => answered > before + gates.length * WORKERS)
  isOver = true
  await all
  return answered
}

/** Requested at one gate, approved at the other with its own command, called at both at once; in both directions. */
async function holdAndApprove(
  callers: Callers,
  programs: readonly [string, string],
): Promise<number> {
  const { gates } = callers
  let passed = 0
  for (const [from, to] of [
    [0, 1],
    [1, 0],
  ] as const) {
    const order = [gates[from], gates[to]] as const
    const clients = await Promise.all(order.map((gate) => open(callers, gate)))
    const { text } = (await clients[0]?.call('slow', { from })) ?? { text: '' }
    const [, id = ''] = /"approvalId":"([^"]+)"/.exec(text) ?? []
    await typeAt(programs[to], ['approvals', 'approve', id, '--data', gates[to].data])
    const replies = await Promise.all(clients.map((client) => client.call('slow', { from })))
    passed += replies.filter(({ answer }) => answer.result?.isError === undefined).length
  }
  return passed
}

export function countCalls(log: string): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const line of readFileSync(log, 'utf8').trim().split('\n')) {
    const { name } = JSON.parse(line)
    counts[name] = (counts[name] ?? 0) + 1
  }
  return counts
}
