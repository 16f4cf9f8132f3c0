// First step of a start: what a gate has on disk or shares with others. The data directory is locked, the
// ledger and gate.db are open, policies and freezes are in force, and sessions and counters are restored.

import type { DatabaseSync } from 'node:sqlite'
import { InstallationKey } from '@sluice/access/identity/keys/installation-key'
import type { AgentSessions } from '@sluice/access/identity/sessions/agent-sessions'
import type { Ledger } from '@sluice/ledger/ledger'
import { Names } from '@sluice/ledger/records/names'
import { MemoryCounters } from '@sluice/policy/counters/memory-counters'
import type { GateConfig } from '../config/config.ts'
import { DataLock } from '../data/data-lock.ts'
import { openGateStore } from '../data/gate-store.ts'
import { createHider, type OpenLedger, openLedger } from '../data/open-ledger.ts'
import { restoreState } from '../data/restore-state.ts'
import { startSnapshots } from '../data/snapshot-state.ts'
import type { Log } from '../shared/log.ts'
import { OutageLog } from '../shared/outage-log.ts'
import type { CompiledDocuments } from '../state/documents.ts'
import { describeFreezeTarget, FreezeStore } from '../state/freezes.ts'
import { Policies } from '../state/policies.ts'
import { readStoredDocuments } from '../state/stored-documents.ts'
import { joinCluster, objectTo } from './join-cluster.ts'
import { openAgentSessions } from './open-agent-sessions.ts'
import type { SharedStore } from './open-shared-store.ts'
import type { LateParts, RunOptions } from './running-gate.ts'
import { warnOfClock } from './warn-of-clock.ts'
import { warnOfFirstPolicy } from './warn-of-first-policy.ts'

/** What a gate has on disk or shares with others. */
export interface GateData {
  readonly config: GateConfig
  /** The files of the policy documents. */
  readonly files: readonly string[]
  readonly freezes: FreezeStore
  /** The key of the installation; in a cluster that of the store. */
  readonly key: InstallationKey
  /** What later steps of the start fill in. */
  readonly late: LateParts
  readonly ledger: Ledger
  readonly log: Log
  /** The names of callers and people, which records have tokens for. */
  readonly names: Names
  readonly outages: OutageLog
  readonly policies: Policies
  /** The ledger with its key and its second places. */
  readonly record: OpenLedger
  /** What an earlier run of the gate has counted. */
  readonly restored: {
    readonly counters: MemoryCounters
    readonly sessions: AgentSessions
  }
  readonly sessions: AgentSessions
  /** The store that several gates share; undefined if the gate is alone. */
  readonly shared: SharedStore | undefined
  /** `gate.db`. */
  readonly store: DatabaseSync
  /** Verifies checkpoints of the ledger. */
  readonly publicKey: string
}

export async function openData(
  config: GateConfig,
  documents: CompiledDocuments,
  { log }: Pick<RunOptions, 'log'>,
  closing: AsyncDisposableStack,
): Promise<GateData> {
  const late: LateParts = { url: '' }
  const lock = DataLock.take(config.data)
  closing.defer(() => lock.release())
  closing.defer(warnOfClock(log))
  const names = new Names(config.data)
  closing.defer(() => names.close())
  const shared = await joinCluster(config, documents, { log, names })
  closing.defer(() => shared?.close())
  const key = shared?.key ?? InstallationKey.at(config.data)
  const hider = shared?.hider ?? createHider(key, names)
  const record = await openLedger(config, log, { hider, shared: shared?.log })
  const { ledger, signer } = record
  closing.defer(() => record.close())
  closing.defer(() => shared?.admission.drain())
  await shared?.follow(ledger)
  const store = openGateStore(config.data)
  closing.defer(() => store.close())
  await shared?.mirror(store)
  const freezes = new FreezeStore(store)
  for (const frozen of freezes.list) log('warn', `${describeFreezeTarget(frozen)} is frozen`)
  const isFirstPolicy = readStoredDocuments(store).length === 0
  if (isFirstPolicy) warnOfFirstPolicy(config.data, log)
  const policies = new Policies(documents, {
    store,
    ledger,
    log,
    nowMs: Date.now,
    tools: () => late.gate?.knownTools ?? [],
    ...(shared === undefined ? {} : { objectTo }),
  })
  const sessions = openAgentSessions(config, { store, key, log, shared }, closing)
  const restored =
    shared === undefined
      ? restoreState({
          directory: config.data,
          policies: policies.now,
          key: signer,
          sessions,
          hider,
        })
      : { counters: new MemoryCounters(), sessions }
  recordSessions(sessions, ledger)
  closing.defer(startSnapshots({ data: config.data, ...restored, key: signer, ledger, log }))
  const event = (name: string) => {
    const signedBy = signer.publicKey
    const known = { policy: policies.now.local.id, documents: policies.describe(), signedBy }
    const detail = name === 'start' && isFirstPolicy ? { ...known, isFirstPolicy } : known
    return ledger.event({ atMs: Date.now(), name, detail }).catch(() => {})
  }
  // A gate that serves is on record, unless the record cannot be written.
  await event('start')
  closing.defer(() => void event('stop'))
  const files = [...documents.documents.values()].map(({ file }) => file)
  const outages = new OutageLog(log, () => ledger.figures.commits)
  const parts = { config, files, freezes, key, late, ledger, log, names, outages, policies }
  return { ...parts, record, restored, sessions, shared, store, publicKey: signer.publicKey }
}

function recordSessions(sessions: AgentSessions, ledger: Ledger): void {
  sessions.onBegin(({ id, principal, kind, client, servers }) => {
    const detail = { session: id, principal, kind, client, servers: [...servers] }
    void ledger.event({ atMs: Date.now(), name: 'session', detail }).catch(() => {})
  })
}
