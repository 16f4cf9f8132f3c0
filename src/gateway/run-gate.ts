// Starts a gate and stops it: data directory, record, counters, servers' watcher, front. In this
// order, so that nothing is served before it can be recorded; and backwards when it ends, so that
// what is open can finish.

import { join } from 'node:path'
import { LOCAL_USER } from '../identity/names.ts'
import { Slots } from '../identity/slots.ts'
import { Ledger } from '../ledger/ledger.ts'
import { openLedgerReadOnly } from '../ledger/read.ts'
import { digestOf } from '../ledger/record.ts'
import { restoreLimits } from '../ledger/restore-limits.ts'
import { type CompiledPolicy, longestWindowMs } from '../policy/policy.ts'
import { MemoryCounters } from '../store/memory/counters.ts'
import type { GateConfig } from './config.ts'
import { DataLock } from './data-lock.ts'
import { HttpFront } from './front/http.ts'
import { SocketFront } from './front/socket.ts'
import { socketPath } from './front/socket-path.ts'
import { Gate } from './gate.ts'
import { IdleEnd } from './idle-end.ts'
import { labelsOf } from './labels-of.ts'
import { DRAIN_MS } from './limits.ts'
import { controlOf } from './operate/commands.ts'
import { Freezes, nameOf } from './operate/freezes.ts'
import { openGateStore } from './operate/gate-store.ts'
import { restoreSlots } from './restore-slots.ts'
import { HttpPools } from './upstream/http-pools.ts'
import { endLeftovers } from './upstream/leftovers.ts'
import type { Log } from './upstream/upstream.ts'
import { Watcher } from './upstream/watcher.ts'

export { DataTaken } from './data-lock.ts'

export interface RunningGate {
  /** Where clients reach it over HTTP; the socket where it serves pipes only. */
  readonly url: string
  /** Resolves where it was started for pipes and the last has been gone for a while. */
  readonly idle: Promise<string>
  /** Lets open calls finish, then ends everything. */
  stop(): Promise<void>
}

export async function runGate(
  config: GateConfig,
  policy: CompiledPolicy,
  policyText: string,
  { piped, log }: { readonly piped: boolean; readonly log: Log },
): Promise<RunningGate> {
  /** What has to be undone, the first last. */
  const undo: (() => void | Promise<void>)[] = []
  const stop = async (): Promise<void> => {
    for (let step = undo.pop(); step !== undefined; step = undo.pop()) await step()
  }
  try {
    const lock = DataLock.take(config.data)
    undo.push(() => lock.release())
    const ledger = openLedger(config, log)
    undo.push(() => ledger.close())
    const store = openGateStore(config.data)
    undo.push(() => store.close())
    const freezes = new Freezes(store)
    for (const frozen of freezes.list) log('warn', `${nameOf(frozen)} is frozen`)
    const restored = restore(config.data, policy)
    const policyId = `${policy.name} ${digestOf(policyText)}`
    const event = (name: string) =>
      void ledger.event({ atMs: Date.now(), name, detail: { policy: policyId } }).catch(() => {})
    event('start')
    undo.push(() => event('stop'))
    const leftovers = join(config.data, 'servers.json')
    await endLeftovers(leftovers)
    const watcher = new Watcher({ file: leftovers, log })
    undo.push(() => watcher.close())
    const pools = new HttpPools()
    undo.push(() => pools.close())
    const paths = [config.file, config.data, config.policy, config.house]
    const ownPaths = paths.filter((path) => path !== undefined)
    const kept = { ...restored, ledger, freezes }
    const gate = new Gate({ config, policy, policyId, ...kept, watcher, pools, ownPaths, log })
    undo.push(() => gate.close('the gate is stopping'))
    const idle = new IdleEnd(piped)
    const path = socketPath(config.data)
    const ready = () => readiness(ledger, policy, freezes)
    let url = piped ? path : ''
    const reached = { policyId: () => policyId, ready, url: () => url }
    const control = controlOf({ config, gate, ledger, freezes, ...reached })
    const socket = new SocketFront({
      path,
      hasServer: (name) => gate.kindOf(name) !== undefined,
      open: (name, link) => gate.open(name, link, LOCAL_USER),
      command: (word, request) => control.run(word, request),
      onClients: (count) => idle.clients(count),
    })
    undo.push(() => socket.close())
    await socket.listen()
    if (piped) {
      undo.push(() => gate.drain(DRAIN_MS))
      return { url, idle: idle.end, stop }
    }
    const front = new HttpFront({
      host: config.host,
      port: config.port,
      kindOf: (name) => gate.kindOf(name),
      open: (name, link) => gate.open(name, link, LOCAL_USER),
      ready,
      nowMs: () => performance.now(),
    })
    undo.push(() => front.close())
    undo.push(() => gate.drain(DRAIN_MS))
    undo.push(() => front.stopTaking())
    const { port } = await front.listen()
    const host = config.host.includes(':') ? `[${config.host}]` : config.host
    url = `http://${host}:${port}`
    return { url, idle: idle.end, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

function openLedger({ data, sync }: GateConfig, log: Log): Ledger {
  return Ledger.open({
    directory: data,
    sync,
    onState: (state, fault) => {
      if (state === 'closed') return
      const level = state === 'writing' ? 'info' : 'error'
      log(level, `the record is ${state}`, { why: fault?.message ?? '' })
    },
  })
}

function readiness(
  ledger: Ledger,
  policy: CompiledPolicy,
  freezes: Freezes,
): { ok: boolean; why: string } {
  const why = [
    ledger.fault?.message,
    policy.shadow ? 'the policy is in shadow mode, nothing is enforced' : undefined,
    freezes.list.length > 0 ? `frozen: ${freezes.list.map(nameOf).join(', ')}` : undefined,
  ].filter((part) => part !== undefined)
  return { ok: ledger.state === 'writing', why: why.join('; ') }
}

/** What was taken and seen before the restart stays so. */
function restore(
  directory: string,
  policy: CompiledPolicy,
): { counters: MemoryCounters; slots: Slots } {
  const counters = new MemoryCounters()
  const slots = new Slots()
  const database = openLedgerReadOnly(directory)
  try {
    const now = { wallMs: Date.now(), monotonicMs: performance.now() }
    for (const { takes, ageMs } of restoreLimits(database, now.wallMs, longestWindowMs(policy)))
      counters.restore(takes, ageMs, now)
    restoreSlots(slots, database, now.wallMs, (call) => labelsOf(policy, call))
  } finally {
    database.close()
  }
  return { counters, slots }
}
