// Counters and sessions as they were before a restart: from what was noted of them and the records
// behind that, or from the records alone. What was taken and seen stays so. Called at start, before
// anything is served.

import type { SigningKey } from '@sluice/access/identity/keys/signing-key'
import type { AgentSessions } from '@sluice/access/identity/sessions/agent-sessions'
import { openLedgerReadOnly } from '@sluice/ledger/chain/read'
import { restoreLimits } from '@sluice/ledger/query/restore-limits'
import type { EntryHider } from '@sluice/ledger/records/hide-entry'
import { MemoryCounters } from '@sluice/policy/counters/memory-counters'
import { longestWindowMs } from '@sluice/policy/model/policy'
import { labelsOf } from '../state/labels-of.ts'
import type { PolicySet } from '../state/policy-set.ts'
import { restoreSessions } from './restore-sessions.ts'
import { readState } from './state-file.ts'

interface RestoredParts {
  readonly directory: string
  readonly policies: Pick<PolicySet, 'all'>
  /** Has signed what was noted. */
  readonly key: SigningKey
  readonly sessions: AgentSessions
  /** Records name counters as it does. */
  readonly hider: Pick<EntryHider, 'nameCounter'>
}

export function restoreState({ directory, policies, key, sessions, hider }: RestoredParts): {
  counters: MemoryCounters
  sessions: AgentSessions
} {
  const counters = new MemoryCounters({ recordedName: hider.nameCounter })
  using database = openLedgerReadOnly(directory)
  const now = { wallMs: Date.now(), monotonicMs: performance.now() }
  const noted = readState(directory, key, database, now.wallMs)
  if (noted !== undefined) counters.load(noted.counters, now.wallMs - noted.wallMs, now)
  const longestMs = Math.max(0, ...policies.all.map(longestWindowMs))
  const behind = restoreLimits(database, now.wallMs, longestMs, noted?.seq)
  for (const { charges, ageMs } of behind) counters.restore(charges, ageMs, now)
  // The caller may be bound to another document now: the labels of every document count as seen.
  const labels = (call: Parameters<typeof labelsOf>[1]) =>
    policies.all.flatMap((policy) => labelsOf(policy, call))
  restoreSessions(sessions, database, { nowMs: now.wallMs, labelsOf: labels, noted })
  return { counters, sessions }
}
