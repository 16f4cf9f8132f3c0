// A seeded history of a cluster under faults: gates as processes, calls with arguments of their own, links to
// the database that are cut, delayed or deaf, gates that are killed, stopped, or lose their name to another gate, and
// freezes under load. What it leaves behind is checked by test/cluster/history.ts.

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { askGate } from '../../packages/cli/src/connect/gate-socket.ts'
import { parsePostgresUrl } from '../../packages/ledger/src/store/postgres/address.ts'
import { PostgresConnections } from '../../packages/ledger/src/store/postgres/connections.ts'
import { type History, type RunLimit, readHistory } from '../cluster/history.ts'
import { seededRandom } from '../policy/reference/random.ts'
import { atTerminal } from './person.ts'
import { PlainClient } from './plain-client.ts'
import type { RunningPostgres } from './postgres.ts'
import { CLUSTER_KEY } from './postgres.ts'
import { sluice } from './run-sluice.ts'
import { fixture, type GateSpec, type RunningGate, startGate, until } from './start-gate.ts'
import { TcpRelay } from './tcp-relay.ts'

/** A busy machine may need long to start a gate again. */
const STALL_MS_MAX = 300_000
/** Attempts for each call that is to be answered. */
const ATTEMPTS_MAX = 20
const LIMITS: readonly RunLimit[] = [
  // Never reached, so that a call whose effect is unknown always has a charge that is given back.
  { kind: 'rate', tool: 'read', max: '1000000', windowMs: 3_600_000 },
  { kind: 'rate', tool: 'write', max: '30', windowMs: 2_000 },
  { kind: 'rate', tool: 'fail', max: '100', windowMs: 3_600_000 },
  { kind: 'spend', tool: 'fail', max: '7.25', windowMs: 2_000 },
]
/** No sum of them is exact in doubles. */
const AMOUNTS = [0.15, 0.7, 1.35] as const
const POLICY = `version: 1
default: allow
tools:
  count/slow: { action: require_approval, approval: { wait: 1s } }
${['read', 'write', 'fail'].map((tool) => `  count/${tool}: { action: allow, ${describeLimits(tool)} }\n`).join('')}`
/** Calls that are approved and then made at all gates at once: so many, because a gate may hear in time of the use
 * at another. */
const APPROVALS = 10
/** Of the calls that are answered: a quarter is `read`, which always fits. */
const ARRIVING_SHARE = 0.15
/** The link is deaf, the gate stopped, killed, the link cut. */
const FAULT_KINDS = 4
const PRESSED = 4
const PRESSED_EVERY_MS = 100
/** A row without a body is that of a freeze that was lifted. */
const FROZEN = "SELECT 1 FROM sluice.shared WHERE kind = 'freezes' AND body IS NOT NULL"
/** What a gate that lost its name hears from the database is so much later. */
const TWIN_DELAY_MS = 250

function describeLimits(tool: string): string {
  const those = LIMITS.filter((limit) => limit.tool === tool)
  const describe = ({ kind, max, windowMs }: RunLimit) => {
    const amount = kind === 'spend' ? 'amount: args.amount, ' : ''
    return `${kind}_limit: { ${amount}max: ${max}, window: ${windowMs / 1_000}, per: everyone }`
  }
  return those.map(describe).join(', ')
}

export interface HistorySize {
  readonly calls: number
  readonly seed: number
  readonly gates: number
  /** Calls at a time at each gate. */
  readonly workers?: number
  /** Called now and then with the number of calls and of faults. */
  readonly onProgress?: (calls: number, faults: number) => void
}

/** Makes a call with arguments of its own. */
type ReadAt = (gate: RunningGate) => Promise<void>
/** Makes calls at once and waits for none: in a short history the workers are done before the last faults. */
type Press = () => void
type Freeze = History['freezes'][number]

/** A fault takes a second or two, so that there are fewer of them for each call of a long history. */
function countFaults(calls: number): number {
  return Math.max(FAULT_KINDS, Math.floor(Math.min(calls / 200, 20 + calls / 1_000)))
}

/** A gate of the run. Another one that takes its name has a folder and a link to the database of its own. */
interface Member {
  gate: RunningGate
  relay: TcpRelay
  /** A gate with this name, at the database that the relay leads to. */
  readonly specify: (relay: TcpRelay) => GateSpec
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
  const addRelay = async () => {
    const relay = await TcpRelay.start(server.port)
    relays.push(relay)
    return relay
  }
  const startMember = async (_: unknown, at: number): Promise<Member> => {
    const specify = ({ port }: TcpRelay): GateSpec => ({
      servers: { count: fixture('counter', log, 'times') },
      policy: POLICY,
      config: {
        store: `postgres://sluice@127.0.0.1:${port}/${database}`,
        cluster: { name: `gate-${at}`, key: CLUSTER_KEY },
      },
    })
    const relay = await addRelay()
    return { gate: await startGate(specify(relay)), relay, specify }
  }
  const members = await Promise.all(Array.from({ length: count }, startMember))
  let number = 0
  let made = 0
  const call = (client: PlainClient, name: string) =>
    client.call(name, { number: ++number, ...(name === 'fail' ? { amount: pick(AMOUNTS) } : {}) })
  const worker = async (at: number): Promise<void> => {
    let client: PlainClient | undefined
    while (made < calls && number < calls * ATTEMPTS_MAX) {
      try {
        client ??= await PlainClient.open((members[at % count] as Member).gate, 'count')
        const reply = await call(client, pick(['write', 'write', 'read', 'fail']))
        if (reply.status === 200) made++
        else client = undefined
      } catch {
        client = undefined
        await wait(50)
      }
    }
  }
  const workers = Array.from({ length: perGate * count }, (_, at) => worker(at))
  const read: ReadAt = async (gate) => {
    await call(await PlainClient.open(gate, 'count'), 'read')
  }
  const pressAt = async (gate: RunningGate): Promise<Press> => {
    let client: PlainClient | undefined
    await until(async () => {
      client = await PlainClient.open(gate, 'count').catch(() => undefined)
      return client !== undefined
    }, STALL_MS_MAX)
    return () => {
      for (let at = 0; at < PRESSED; at++) call(client as PlainClient, 'read').catch(() => {})
    }
  }
  const faults = countFaults(calls)
  // A gate that starts again does not keep the faults of the others waiting.
  const busy = new Map<number, Promise<void>>()
  for (let fault = 1; fault <= faults; fault++) {
    await until(() => made >= (fault * calls) / (faults + 1), STALL_MS_MAX)
    const at = Math.floor(random() * count)
    await busy.get(at)
    const member = members[at] as Member
    const press = await pressAt(member.gate)
    const striking = strike(fault % FAULT_KINDS, member, press)
    busy.set(at, striking)
    // If nobody is left to call, the next fault has to wait.
    if (busy.size === count) await striking
    void striking.then(() => busy.get(at) === striking && busy.delete(at)).catch(() => {})
    onProgress?.(made, fault)
  }
  await Promise.all(busy.values())
  await Promise.all(workers)
  const gates = members.map(({ gate }) => gate)
  const used = await callApproved(gates)
  const admin = new PostgresConnections(parsePostgresUrl(server.url(database)))
  try {
    const presses = await Promise.all(gates.map(pressAt))
    const freezes = await freezeUnderLoad(gates, admin, presses)
    // Last, because a gate that was not fenced leaves a chain with which its name is of no use. The first gate freezes.
    for (const member of members.slice(1))
      await takeName({ member, addRelay, press: await pressAt(member.gate), read })
    // Frozen at one gate: from its commit on no gate admits anything.
    await runUntilDone('freeze', gates[0]?.data ?? '')
    const fromMs = await readClock(admin)
    for (const { gate } of members) await read(gate).catch(() => {})
    // Outcomes that wait are written.
    for (const { gate } of members) await gate.stop()
    const arrivals = existsSync(log) ? readFileSync(log, 'utf8') : ''
    return await readHistory(admin, arrivals, {
      limits: LIMITS,
      arrivalsMin: Math.floor(calls * ARRIVING_SHARE) + used,
      freezes: [...freezes, { fromMs, untilMs: Number.POSITIVE_INFINITY }],
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

/** A freeze at each gate in turn, while all of them are called: a gate that has not heard of it yet admits nothing. */
async function freezeUnderLoad(
  gates: readonly RunningGate[],
  admin: PostgresConnections,
  presses: readonly Press[],
): Promise<History['freezes']> {
  const freezes: Freeze[] = []
  const pressing = setInterval(() => {
    for (const press of presses) press()
  }, PRESSED_EVERY_MS)
  try {
    for (const { data } of gates) {
      await atTerminal(data)
      // The command ends when every gate has heard of the freeze: it holds from its commit on.
      const freezing = runUntilDone('freeze', data)
      await until(async () => (await admin.query(FROZEN)).length > 0)
      const fromMs = await readClock(admin)
      await freezing
      const untilMs = await readClock(admin)
      await runUntilDone('thaw', data)
      freezes.push({ fromMs, untilMs })
    }
  } finally {
    clearInterval(pressing)
  }
  return freezes
}

/** A gate that has not heard yet of what another one changed refuses a change of the same, and says so. */
async function runUntilDone(command: 'freeze' | 'thaw', data: string): Promise<void> {
  await until(async () => {
    const { code } = await sluice([command, '--data', data])
    return code === 0
  })
}

async function readClock(admin: PostgresConnections): Promise<number> {
  const [now] = await admin.query('SELECT extract(epoch FROM clock_timestamp()) * 1000 AS ms')
  return Number(now?.ms)
}

interface Takeover {
  readonly member: Member
  readonly addRelay: () => Promise<TcpRelay>
  readonly press: Press
  readonly read: ReadAt
}

/** Another gate takes the name of one that is stopped, and calls are made there. The one that is stopped wakes up with
 * calls that waited for it, which it must not admit; it hears late of what has happened. */
async function takeName({ member, addRelay, press, read }: Takeover): Promise<void> {
  const { gate: older, relay: slow, specify } = member
  older.process.kill('SIGSTOP')
  press()
  const relay = await addRelay()
  const start = () => startGate(specify(relay))
  const newer = await start().catch(start)
  await read(newer)
  slow.delayMs = TWIN_DELAY_MS
  older.process.kill('SIGCONT')
  await wait(4 * TWIN_DELAY_MS)
  await older.stop()
  member.gate = newer
  member.relay = relay
}

async function strike(kind: number, member: Member, press: Press): Promise<void> {
  const { gate, relay } = member
  if (kind === 1) {
    relay.mode = 'deaf'
    press()
    await wait(1_200)
    relay.cut()
    relay.mode = 'pass'
  } else if (kind === 2) {
    gate.process.kill('SIGSTOP')
    press()
    await wait(2_500)
    gate.process.kill('SIGCONT')
  } else if (kind === 3) {
    await gate.kill()
    const start = () => startGate({ ...member.specify(relay), folder: gate.folder })
    // A gate that does not reach a busy database in time ends, and is started again.
    member.gate = await start().catch(start)
  } else {
    relay.cut()
    await wait(300)
    relay.mode = 'pass'
  }
}
