// Sessions for tests, which keep nothing over a restart unless they are told to.

import { AGENT_SESSION_IDLE_MS, AGENT_SESSIONS_WINDOW_MS } from '../limits.ts'
import { AgentSessions, type AgentSessionsOptions } from './agent-sessions.ts'
import type { AnswerMemoryStore } from './answer-memory-store.ts'
import type { SessionMemory } from './session-memory.ts'

const NO_MEMORY: SessionMemory = {
  load: () => ({ sessions: [], principals: [] }),
  save: () => {},
  remove: () => {},
  saveLabels: () => {},
  removeLabels: () => {},
}

const NO_ANSWER_MEMORY: AnswerMemoryStore = {
  load: () => undefined,
  save: () => {},
  markChanged: () => {},
  remove: () => {},
}

export function makeSessions(options: Partial<AgentSessionsOptions> = {}): AgentSessions {
  return new AgentSessions({
    memory: NO_MEMORY,
    answers: NO_ANSWER_MEMORY,
    idleMs: AGENT_SESSION_IDLE_MS,
    windowMs: AGENT_SESSIONS_WINDOW_MS,
    nowMs: 0,
    ...options,
  })
}
