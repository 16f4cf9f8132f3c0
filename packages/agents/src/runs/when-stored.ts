// For what this process knows and a shared store may not have yet: that a call was not sent, that its result is
// there. Used by run-turn.ts and perform-effect.ts.

import { setTimeout as sleep } from 'node:timers/promises'
import type { AgentError } from '../shared/errors.ts'
import { RESULT_RETRY_MS } from '../shared/limits.ts'

/** Runs `work` again as long as the shared store does not respond; it may have been done each time. */
export async function whenStored<Result>(
  work: () => Promise<Result>,
  isOver: () => boolean,
): Promise<Result> {
  for (;;)
    try {
      return await work()
    } catch (error) {
      if ((error as AgentError).code !== 'AGENT_UNAVAILABLE' || isOver()) throw error
      await sleep(RESULT_RETRY_MS)
    }
}
