// A run that a limit stopped: what is needed to go on where it stood once the limit is raised. The
// conversation is closed as for a run that ended, so exports and forks see whole messages; going on
// takes the closing results back.

import type { TurnCalls } from './calls.ts'
import type { Conversation } from './conversation.ts'
import type { AgentRun, Phase } from './run.ts'

export interface SuspendedRun {
  readonly run: AgentRun
  /** The calls of its last turn: those that were sent are settled, the others can still begin. */
  readonly calls: TurnCalls | undefined
  /** Messages before the results that closed the run. */
  readonly messageCount: number
}

/** Taken before the run is ended. */
export function suspendRun(
  run: AgentRun | undefined,
  phase: Phase | undefined,
  { messages }: Conversation,
): SuspendedRun | undefined {
  if (run === undefined) return undefined
  const calls = phase?.kind === 'calls' ? phase.calls.settleSent() : undefined
  return { run, calls, messageCount: messages.length }
}

/** The conversation as it was when the run was suspended. */
export function reopenConversation(
  { run, calls, messageCount }: SuspendedRun,
  conversation: Conversation,
): void {
  if (calls !== undefined) conversation.replace(conversation.messages.slice(0, messageCount))
  // A prompt that no model has answered was taken back.
  else if (conversation.messages.length < messageCount) conversation.addUser(run.input)
}
