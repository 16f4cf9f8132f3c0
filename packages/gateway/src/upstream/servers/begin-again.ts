// Begins a session in a new process of its server as the client began it in the first one. The client notices
// nothing: the answers are dropped, and what it has sent meanwhile waits until they are there.

import { MEMBER_BEGIN_MS_MAX } from '../../shared/limits.ts'
import { withTimeout } from '../../shared/with-timeout.ts'
import type { TrialResult } from '../adapters/probe-generation.ts'
import type { OutboundRequest } from '../upstream.ts'
import { chooseForSession, type GenerationSearch } from './choose-generation.ts'

/** Returns what came of `initialize`: neither an answer nor a failure if the run ended or the time is over. */
export async function beginAgain(
  search: GenerationSearch,
  opening: OutboundRequest,
): Promise<TrialResult> {
  const { run, session } = search
  const again = session.asOwn(opening)
  const begin = async (): Promise<TrialResult> => {
    const result = await chooseForSession(search, again)
    return result ?? (run.link && run.repeats.send(run.link, again)) ?? {}
  }
  return (await withTimeout(begin(), MEMBER_BEGIN_MS_MAX)) ?? {}
}
