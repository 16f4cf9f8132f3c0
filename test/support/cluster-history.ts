// A seeded history of a cluster under faults: gates as processes, calls with arguments of their own, links to
// the database that are cut, delayed or deaf, gates that are killed and stopped. What it leaves behind is
// checked by test/cluster/history.ts.

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { askGate } from '../../packages/sluice/src/cli/connect/gate-socket.ts'
import { parsePostgresUrl } from '../../packages/sluice/src/store/postgres/address.ts'
import { PostgresConnections } from '../../packages/sluice/src/store/postgres/connections.ts'
import { type History, type RunLimit, readHistory } from '../cluster/history.ts'
import { seededRandom } from '../policy/reference/random.ts'
import { atTerminal } from './person.ts'
import { PlainClient } from './plain-client.ts'
import type { RunningPostgres } from './postgres.ts'
import { CLUSTER_KEY } from './postgres.ts'
import { sluice, sluiceJson } from './run-sluice.ts'
import { fixture, type RunningGate, startGate, until } from './start-gate.ts'
import { TcpRelay } from './tcp-relay.ts'

/** A busy machine may need long to start a gate again. */
const STALL_MS_MAX = 300_000
/** Attempts for each call that is to be answered. */
const ATTEMPTS_MAX = 20
const LIMITS: readonly RunLimit[] = [
  { tool: 'write', max: 30, windowMs: 2_000 },
  { tool: 'fail', max: 100, windowMs: 3_600_000 },
]
const POLICY = `version: 1
default: allow
tools:
  count/slow: { action: require_approval, approval: { wait: 1s } }
${LIMITS.map(
  ({ max, tool, windowMs }) =>
    `  count/${tool}: { action: allow, rate_limit: { max: ${max}, window: ${windowMs / 1_000}, per: everyone } }\n`,
).join('')}`
/** Calls that are approved and then made at all gates at once: so many, because a gate may hear in time of the use
 * at another. */
const APPROVALS = 10
/** Of the calls that are answered: a quarter is `read`, which nothing limits. */
const ARRIVING_SHARE = 0.15

export interface HistorySize {
  readonly calls: number
  readonly seed: number
  readonly gates: number
  /** Calls at a time at each gate. */
  readonly workers?: number
  /** Called now and then with the number of calls and of faults. */
  readonly onProgress?: (calls: number, faults: number) => void
}

/** A fault takes a second or two, so that there are fewer of them for each call of a long history. */
function countFaults(calls: number): number {
  return Math.max(4, Math.floor(Math.min(calls / 200, 20 + calls / 1_000)))
}

export async function makeHistory(
  server: RunningPostgres,
  { calls, gates: count, onProgress, seed, workers: perGate = 2 }: HistorySize,
): Promise<History> {
  const database = `history_${seed}`
  await server.createDatabase(database)
  const folder = mkdtempSync(join(tmpdir(), 'sluice-history-'))
  const log = join(folder, 'arrivals')
  const random = seededRandom(seed)
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)]!
  const relays: TcpRelay[] = []
  const specs = []
  for (let at = 0; at < count; at++) {
    const relay = await TcpRelay.start(server.port)
    relays.push(relay)
    const store = `postgres://sluice@127.0.0.1:${relay.port}/${database}`
    specs.push({
      servers: { count: fixture('counter', log, 'times') },
      policy: POLICY,
      config: { store, cluster: { name: `gate-${at}`, key: CLUSTER_KEY } },
    })
  }
  const gates = await Promise.all(specs.map((spec) => startGate(spec)))
  let number = 0
  let made = 0
  const worker = async (at: number): Promise<void> => {
    let client: PlainClient | undefined
    while (made < calls && number < calls * ATTEMPTS_MAX) {
      try {
        client ??= await PlainClient.open(gates[at % count] as RunningGate, 'count')
        const name = pick(['write', 'write', 'read', 'fail'])
        const reply = await client.call(name, { number: ++number })
        if (reply.status === 200) made++
        else client = undefined
      } catch {
        client = undefined
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    }
  }
  const workers = Array.from({ length: perGate * count }, (_, at) => worker(at))
  const faults = countFaults(calls)
  // A gate that starts again does not keep the faults of the others waiting.
  const busy = new Map<number, Promise<void>>()
  for (let fault = 1; fault <= faults; fault++) {
    await until(() => made >= (fault * calls) / (faults + 1), STALL_MS_MAX)
    const at = Math.floor(random() * count)
    await busy.get(at)
    const striking = strike(fault % 4, relays[at] as TcpRelay, gates, at, specs[at] as never)
    busy.set(at, striking)
    // If nobody is left to call, the next fault has to wait.
    if (busy.size === count) await striking
    void striking.then(() => busy.get(at) === striking && busy.delete(at)).catch(() => {})
    onProgress?.(made, fault)
  }
  await Promise.all(busy.values())
  await Promise.all(workers)
  const used = await callApproved(gates)
  const admin = new PostgresConnections(parsePostgresUrl(server.url(database)))
  try {
    // Frozen at one gate: from its commit on no gate admits anything.
    await sluiceJson(['freeze', '--data', gates[0]?.data ?? ''])
    const [now] = await admin.query('SELECT extract(epoch FROM clock_timestamp()) * 1000 AS ms')
    const fromMs = Number(now?.ms)
    for (const gate of gates) {
      const client = await PlainClient.open(gate, 'count').catch(() => undefined)
      await client?.call('read', { number: ++number })
    }
    // Outcomes that wait are written.
    for (const gate of gates) await gate.stop()
    const arrivals = existsSync(log) ? readFileSync(log, 'utf8') : ''
    return await readHistory(admin, arrivals, {
      limits: LIMITS,
      arrivalsMin: Math.floor(calls * ARRIVING_SHARE) + used,
      freezes: [{ fromMs, untilMs: Number.POSITIVE_INFINITY }],
    })
  } finally {
    await admin.close()
    for (const relay of relays) await relay.end()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Each is requested at one gate, approved, and called at all gates at once: it arrives once. */
async function callApproved(gates: readonly RunningGate[]): Promise<number> {
  const [first] = gates as [RunningGate]
  await atTerminal(first.data)
  for (let approval = 0; approval < APPROVALS; approval++) {
    const clients = await Promise.all(gates.map((gate) => PlainClient.open(gate, 'count')))
    const call = (client: PlainClient) => client.call('slow', { approval })
    let text = ''
    // The faults of the run may not be over yet.
    await until(async () => {
      text = (await call(clients[0] as PlainClient)).text
      return !text.includes('GATE_UNAVAILABLE')
    })
    const [, id = ''] = /"approvalId":"([^"]+)"/.exec(text) ?? []
    const { code, stderr } = await sluice(['approvals', 'approve', id, '--data', first.data])
    if (code !== 0) throw new Error(`${text}: ${stderr}`)
    // A gate that hears of the approval only after its use does not try to use it again.
    for (const { data } of gates) await until(async () => (await stateOf(data, id)) === 'approved')
    await Promise.all([...clients, ...clients].map(call))
  }
  return APPROVALS
}

async function stateOf(data: string, id: string): Promise<unknown> {
  return (await askGate(data, { do: 'approval', id }).catch(() => undefined))?.state
}

async function strike(
  kind: number,
  relay: TcpRelay,
  gates: RunningGate[],
  at: number,
  spec: Parameters<typeof startGate>[0],
): Promise<void> {
  const gate = gates[at] as RunningGate
  const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
  if (kind === 0) {
    relay.cut()
    await wait(300)
    relay.mode = 'pass'
  } else if (kind === 1) {
    relay.mode = 'deaf'
    await wait(1_200)
    relay.cut()
    relay.mode = 'pass'
  } else if (kind === 2) {
    gate.process.kill('SIGSTOP')
    await wait(2_500)
    gate.process.kill('SIGCONT')
  } else {
    await gate.kill()
    const start = () => startGate({ ...spec, folder: gate.folder })
    // A gate that does not reach a busy database in time ends, and is started again.
    gates[at] = await start().catch(start)
  }
}
