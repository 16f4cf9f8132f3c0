// Finds out which protocol generation a server speaks, with the first message of the session. A client with a session
// sends `initialize`, and the server is asked only if it refuses that. A stateless client has no such message: the
// server is asked first, and a session is begun if it is of the other generation.

import { takeTurn } from '../../shared/slices.ts'
import { withTimeout } from '../../shared/with-timeout.ts'
import {
  isAboutGeneration,
  type ProbeResult,
  probeGeneration,
  type TrialResult,
} from '../adapters/probe-generation.ts'
import { openingFor } from '../adapters/stateless-over-session.ts'
import { GENERATION_PROBE_HTTP_MS_MAX, GENERATION_PROBE_PROCESS_MS_MAX } from '../limits.ts'
import type { QueuedMessage } from './message-queue.ts'
import type { ServerRun, ServerRunEvents, ServerRunOptions } from './server-run.ts'
import { describeNotBegun, type SessionReplay } from './session-replay.ts'

export interface GenerationSearch {
  /** The run whose links are tried, and which is told what was found. */
  readonly run: ServerRun
  /** Is told if the gate itself begins a session at the server. */
  readonly session: SessionReplay
  readonly options: ServerRunOptions
  readonly events: ServerRunEvents
}

/** Finds out the generation with the first message that waits, and has the run choose it. */
export async function chooseGeneration(
  search: GenerationSearch,
  first: QueuedMessage,
): Promise<void> {
  const { options, events } = search
  if (options.clientGeneration === 'stateless') return await chooseForStateless(search, first)
  const result = await chooseForSession(search, first)
  if (result !== undefined) events.onFirstResult(result)
}

async function chooseForStateless(
  search: GenerationSearch,
  { carried }: QueuedMessage,
): Promise<void> {
  const { run, session, options, events } = search
  const { generations, name } = options
  const known = generations.stateless && 'stateless'
  const probing: Promise<ProbeResult> =
    known === undefined ? probe(run) : Promise.resolve(known || 'session')
  const found = await withTimeout(probing, patienceMs(options))
  if (!run.isRunning) return
  // A server that cannot be reached shows no generation: the next message finds out.
  if (typeof found === 'object') return events.onUnavailable(found)
  generations.stateless = found === 'stateless'
  if (found === 'stateless') return run.choose(found)
  const opening = openingFor(carried?.passing)
  const begins = run.trials.send(run.start('session'), session.asOwn(opening, false))
  await Promise.race([begins, probing])
  // A silent server may know no such question, or not be there yet: then its answer comes late, and counts.
  const late = await Promise.race([probing, takeTurn()])
  if (run.isRunning && late === 'stateless') {
    generations.stateless = true
    return run.choose(late)
  }
  const begun = await begins
  if (!run.isRunning) return
  const { answer, failure } = begun
  if (answer?.result !== undefined) {
    session.begin(opening)
    session.replay(run.start('session'), run.trials)
    return run.choose('session', answer.result)
  }
  if (failure === undefined) run.forget()
  events.onUnavailable(failure ?? describeNotBegun(name, 'did not begin a session', begun))
}

/** Sends `initialize` to the server as it is, and returns what came of it. Undefined if the message is not
 * `initialize` or the server is of the other generation: then it is sent over the link that was chosen. */
export async function chooseForSession(
  { run, options, events }: Omit<GenerationSearch, 'session'>,
  { text, carried }: QueuedMessage,
): Promise<TrialResult | undefined> {
  const { generations } = options
  const passing = carried?.passing
  if (passing?.method !== 'initialize' || generations.session === false) {
    run.choose(generations.session === false ? 'stateless' : 'session')
    return undefined
  }
  const result = await run.trials.send(run.start('session'), {
    text,
    carried: { ...carried, passing },
  })
  if (!run.isRunning) return undefined
  const { answer, failure } = result
  const mayBeNewer =
    answer?.error !== undefined || (failure !== undefined && isAboutGeneration(failure))
  const found = mayBeNewer ? await withTimeout(probe(run), patienceMs(options)) : undefined
  if (!run.isRunning) return undefined
  if (found === 'stateless') {
    generations.session = false
    run.choose(found)
    return undefined
  }
  events.onSent(passing)
  run.choose('session')
  return result
}

function probe(run: ServerRun): Promise<ProbeResult> {
  return probeGeneration(run.trials, run.start('stateless'))
}

/** Silence of a process means that the server knows no such question or is still starting, and a late answer counts.
 * Silence over HTTP is more likely a slow answer. */
function patienceMs({ isProcess }: ServerRunOptions): number {
  return isProcess ? GENERATION_PROBE_PROCESS_MS_MAX : GENERATION_PROBE_HTTP_MS_MAX
}
