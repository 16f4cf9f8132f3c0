// First step of a start: what a gate has on disk or shares with others. The data directory is locked, the
// ledger and gate.db are open, policies and freezes are in force, and sessions and counters are restored.

import { InstallationKey } from '@sluice/access/identity/keys/installation-key'
import type { AgentSessions } from '@sluice/access/identity/sessions/agent-sessions'
import type { Ledger } from '@sluice/ledger/ledger'
import { MemoryCounters } from '@sluice/policy/counters/memory-counters'
import type { GateConfig } from '../config/config.ts'
import { DataLock } from '../data/data-lock.ts'
import { openGateStore } from '../data/gate-store.ts'
import { openLedger } from '../data/open-ledger.ts'
import { restoreState } from '../data/restore-state.ts'
import { startSnapshots } from '../data/snapshot-state.ts'
import { OutageLog } from '../shared/outage-log.ts'
import type { CompiledDocuments } from '../state/documents.ts'
import { describeFreezeTarget, FreezeStore } from '../state/freezes.ts'
import { Policies } from '../state/policies.ts'
import { readStoredDocuments } from '../state/stored-documents.ts'
import { joinCluster, objectTo } from './join-cluster.ts'
import { openAgentSessions } from './open-agent-sessions.ts'
import type { LateParts, RunOptions } from './running-gate.ts'
import { warnOfClock } from './warn-of-clock.ts'
import { warnOfFirstPolicy } from './warn-of-first-policy.ts'

export type GateData = Awaited<ReturnType<typeof openData>>

export async function openData(
  config: GateConfig,
  documents: CompiledDocuments,
  { log }: Pick<RunOptions, 'log'>,
  closing: AsyncDisposableStack,
) {
  const late: LateParts = { url: '' }
  const lock = DataLock.take(config.data)
  closing.defer(() => lock.release())
  closing.defer(warnOfClock(log))
  const shared = await joinCluster(config, documents, log)
  closing.defer(() => shared?.close())
  const record = await openLedger(config, log, shared?.log)
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
  const key = shared?.key ?? InstallationKey.at(config.data)
  const sessions = openAgentSessions(config, { store, key, log, shared }, closing)
  const restored =
    shared === undefined
      ? restoreState(config.data, policies.now, signer, sessions)
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
  const parts = { config, files, freezes, key, late, ledger, log, outages, policies }
  return { ...parts, record, restored, sessions, shared, store, publicKey: signer.publicKey }
}

function recordSessions(sessions: AgentSessions, ledger: Ledger): void {
  sessions.onBegin(({ id, principal, kind, client, servers }) => {
    const detail = { session: id, principal, kind, client, servers: [...servers] }
    void ledger.event({ atMs: Date.now(), name: 'session', detail }).catch(() => {})
  })
}
