// The step thread as the rest of the module sees it: the same operations, each a promise. A change
// carries a name of its own, so that one whose answer was lost with a thread is not made twice. What
// is known of an agent since its last change is answered without the thread.

import { extname, join } from 'node:path'
import type { JournalEvent } from '../guest/protocol.ts'
import type { AgentOrigin } from '../journal/new-rows.ts'
import { FairQueue } from '../sandbox/fair-queue.ts'
import { Thread } from '../sandbox/thread.ts'
import { toAgentError } from '../shared/errors.ts'
import {
  LIGHT_AGENT_BYTES,
  LIGHT_REQUEST_LENGTH,
  SLICED_AT_ONCE,
  STEP_HEAP_MEGABYTES,
  STEPS_AT_ONCE,
} from '../shared/limits.ts'
import type { ResultOf } from '../shared/sliced.ts'
import type { ApplyOptions } from '../steps/stepper.ts'
import type { AgentImportOptions } from '../transfer/import-agent.ts'
import type { Operations } from './operations.ts'
import { StepCache } from './step-cache.ts'
import {
  type NextSlice,
  packRequest,
  readAnswer,
  type SliceAnswer,
  type StepAnswer,
  type StepRequest,
} from './step-codec.ts'
import type { StepThreadData } from './step-thread.ts'

export type Steps = {
  readonly [Name in keyof Operations]: (
    ...values: Parameters<Operations[Name]>
  ) => Promise<ResultOf<ReturnType<Operations[Name]>>>
}

export interface StepThread {
  readonly steps: Steps
  /** A name for a change, unique in this data directory. */
  nonce(): string
  close(): Promise<void>
}

/** What may take long: owners take turns in it, so that nobody waits behind all that another asks for.
 * The rest is a row or two and goes at once. */
const TAKE_TURNS: ReadonlySet<keyof Operations> = new Set([
  'create',
  'apply',
  'move',
  'fork',
  'remove',
  'import',
  'takeExport',
  'ask',
  'files',
  'look',
  'fileAt',
  'history',
  'list',
  'programFiles',
  'prepareTurn',
  'replay',
])

/** Whose turn an operation takes, or the agent whose owner's it is. An owner has one place in the queue,
 * however many agents he has. */
function ownerOf(
  name: keyof Operations,
  values: readonly unknown[],
): { owner: string } | { agent: string } {
  if (name === 'create') return { owner: (values[0] as AgentOrigin).owner }
  if (name === 'import') return { owner: (values[0] as AgentImportOptions).owner }
  if (name === 'programFiles') return { agent: String(values[0]) }
  const [owner, id] = values as [string | null, string]
  const { whose } = name === 'apply' ? ((values[5] ?? {}) as ApplyOptions) : {}
  const known = owner ?? whose
  return known === undefined ? { agent: id } : { owner: known }
}

const LIGHT: ReadonlySet<keyof Operations> = new Set(['remove', 'history', 'list'])
const SLICED: ReadonlySet<keyof Operations> = new Set([
  'takeExport',
  'files',
  'programFiles',
  'prepareTurn',
  'replay',
])

/** Tools run in it, whose effort is bounded by the turn and not by what the agent holds. */
function runsTools(event: JournalEvent): boolean {
  return event.kind === 'direct' || (event.kind === 'model' && event.toolCalls.length > 0)
}

/** More than a millisecond or two: by what it is, what it brings, or how much the agent holds. */
function mayBeLong(
  name: keyof Operations,
  values: readonly unknown[],
  { text }: StepRequest,
  mirror: StepCache,
): boolean {
  if (LIGHT.has(name)) return false
  if (text === null || text.length > LIGHT_REQUEST_LENGTH) return true
  if (name === 'create') return false
  if (name !== 'apply' && name !== 'ask') return true
  if (name === 'apply' && runsTools(values[2] as JournalEvent)) return true
  const cached = mirror.fileBytes(String(values[1]))
  return cached === undefined || cached > LIGHT_AGENT_BYTES
}

/** Each slice takes a turn of its own. What was under way in a thread that is gone begins again: only
 * what reads is done in slices. */
async function sendInSlices(
  request: StepRequest,
  send: (body: StepRequest | NextSlice) => Promise<SliceAnswer>,
): Promise<StepAnswer> {
  for (let body: StepRequest | NextSlice = request; ; ) {
    const answer: SliceAnswer = await send(body)
    if ('slice' in answer) body = answer
    else if ('isLost' in answer) body = request
    else return answer
  }
}

export function startStepThread(data: StepThreadData, startedAtMs: number): StepThread {
  const file = join(import.meta.dirname, `step-thread${extname(import.meta.filename)}`)
  const thread = new Thread(file, data, toAgentError, { heapMegabytes: STEP_HEAP_MEGABYTES })
  const mirror = new StepCache()
  const turns = new FairQueue(STEPS_AT_ONCE)
  // Of those that are long, one: who comes next waits for that one at most.
  const longTurns = new FairQueue(1)
  // Of an owner one: another's does not wait for its end.
  const slicedTurns = new FairQueue(SLICED_AT_ONCE, 1)
  const findOwner = async (name: keyof Operations, values: unknown[]): Promise<string> => {
    const place = ownerOf(name, values)
    if ('owner' in place) return place.owner
    const known = mirror.ownerOf(place.agent)
    if (known !== undefined) return known
    const { agent } = await steps.standing(null, place.agent, 0)
    return agent.owner
  }
  const ask =
    (name: keyof Operations) =>
    async (...values: unknown[]) => {
      const known = mirror.answer(name, values)
      if (known !== undefined) return known
      try {
        const request = packRequest(name, values)
        let answer: StepAnswer
        if (TAKE_TURNS.has(name)) {
          const whose = await findOwner(name, values)
          const isLong = mayBeLong(name, values, request, mirror)
          const send = (body: StepRequest | NextSlice) => {
            const isContinued = body !== request
            const post = () => thread.ask<SliceAnswer>(body)
            const inTurn = () => turns.run(whose, post, isContinued)
            return isLong ? longTurns.run(whose, inTurn, isContinued) : inTurn()
          }
          const inSlices = () => sendInSlices(request, send)
          answer = await (SLICED.has(name) ? slicedTurns.run(whose, inSlices) : inSlices())
        } else answer = await thread.ask<StepAnswer>(request)
        const { value, length } = readAnswer(answer)
        mirror.note(name, values, value, length)
        return value
      } catch (error) {
        mirror.forget(name, values)
        throw error
      }
    }
  const made = new Map<string, unknown>()
  const steps = new Proxy({} as Steps, {
    get: (_, name) => {
      if (typeof name !== 'string' || name === 'then') return undefined
      if (!made.has(name)) made.set(name, ask(name as keyof Operations))
      return made.get(name)
    },
  })
  let next = 0
  return {
    steps,
    nonce: () => `${startedAtMs.toString(36)}-${(next++).toString(36)}`,
    close: async () => {
      await steps.close().catch(() => undefined)
      await thread.close()
    },
  }
}
