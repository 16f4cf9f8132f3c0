// The summary of an agent that has done nothing yet.

import type { Summary } from '../guest/protocol.ts'

export const NO_USAGE = { inputTokens: 0, outputTokens: 0, totalTokens: 0, costMicros: null }
export const IDLE: Summary = {
  state: 'idle',
  turnCount: 0,
  toolCallCount: 0,
  fileCount: 0,
  fileBytes: 0,
  todos: { pending: 0, in_progress: 0, completed: 0, cancelled: 0 },
  usage: NO_USAGE,
  stop: null,
  waitingFor: null,
  wakeAt: null,
  runId: null,
  queued: 0,
}
