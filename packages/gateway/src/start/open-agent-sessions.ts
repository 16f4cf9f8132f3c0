// The sessions of a running gate, with what is kept of them over a restart: `gate.db` has the sessions
// themselves, `session-memory.db` what they remember of answers and their sealed values.

import type { DatabaseSync } from 'node:sqlite'
import type { InstallationKey } from '@sluice/access/identity/keys/installation-key'
import { AgentSessions } from '@sluice/access/identity/sessions/agent-sessions'
import type { SharedSessions } from '@sluice/access/identity/sessions/shared-sessions'
import { processClock } from '@sluice/ledger/store/process-clock'
import type { GateConfig } from '../config/config.ts'
import { longestSessionWindowMs } from '../config/sessions.ts'
import { StoredMemory } from '../data/stored-memory.ts'
import { StoredSessions } from '../data/stored-sessions.ts'
import type { Log } from '../shared/log.ts'

export interface SessionsParts {
  readonly store: DatabaseSync
  readonly key: InstallationKey
  readonly log: Log
  /** Which sessions there are is decided by the shared store, if there is one. */
  readonly shared: { readonly sessions: SharedSessions } | undefined
}

export function openAgentSessions(
  config: GateConfig,
  { store, key, log, shared }: SessionsParts,
  closing: AsyncDisposableStack,
): AgentSessions {
  const own = key.derive('session memory', 32)
  const answers = new StoredMemory({ directory: config.data, key: own, log })
  closing.defer(() => answers.close())
  const aheadMs = () => Date.now() - processClock.steadyMs()
  const sessions = new AgentSessions({
    answers,
    sharedAnswers: shared?.sessions.answers,
    memory: shared?.sessions ?? new StoredSessions(store, log, aheadMs),
    idleMs: config.sessions.idleMs,
    windowMs: longestSessionWindowMs(config),
    nowMs: processClock.steadyMs(),
  })
  shared?.sessions.start(sessions)
  closing.defer(() => sessions.flush())
  return sessions
}
