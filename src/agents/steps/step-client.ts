// The step thread as the rest of the room sees it: the same operations, each a promise. A change
// carries a name of its own, so that one whose answer was lost with a thread is not made twice. What
// is known of an agent since its last change is answered without the thread.

import { extname, join } from 'node:path'
import { Thread } from '../../sandbox/thread.ts'
import { Turns } from '../../sandbox/turns.ts'
import { toAgentError } from '../errors.ts'
import type { Beside } from '../journal/new-rows.ts'
import {
  LIGHT_AGENT_BYTES,
  LIGHT_REQUEST_LENGTH,
  STEP_HEAP_MEGABYTES,
  STEPS_AT_ONCE,
} from '../limits.ts'
import type { ImportOptions } from '../transfer/bring-import.ts'
import type { Operations } from './operations.ts'
import { StepMirror } from './step-mirror.ts'
import type { StepThreadData } from './step-thread.ts'
import { packRequest, readAnswer, type StepAnswer, type StepRequest } from './step-words.ts'
import type { ApplyHow } from './stepper.ts'

export type Steps = {
  readonly [Name in keyof Operations]: (
    ...values: Parameters<Operations[Name]>
  ) => Promise<Awaited<ReturnType<Operations[Name]>>>
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
  ...(['create', 'apply', 'move', 'fork', 'remove', 'import', 'takeExport'] as const),
  ...(['ask', 'files', 'look', 'history', 'list', 'programFiles'] as const),
])

/** Whose turn an operation takes; undefined where it takes none. */
function ownerOf(name: keyof Operations, values: readonly unknown[]): string | undefined {
  if (!TAKE_TURNS.has(name)) return undefined
  if (name === 'create') return (values[0] as Beside).owner
  if (name === 'import') return (values[5] as ImportOptions).owner
  if (name === 'look' || name === 'programFiles') return String(values[0])
  const [owner, id] = values as [string | null, string]
  const { whose } = name === 'apply' ? ((values[5] ?? {}) as ApplyHow) : {}
  return owner ?? whose ?? id
}

const LIGHT: ReadonlySet<keyof Operations> = new Set(['remove', 'history', 'list'])

/** More than a millisecond or two: by what it is, what it brings, or how much the agent holds. */
function mayBeLong(
  name: keyof Operations,
  values: readonly unknown[],
  { text, bytes }: StepRequest,
  mirror: StepMirror,
): boolean {
  if (LIGHT.has(name)) return false
  if (text.length > LIGHT_REQUEST_LENGTH || bytes.length > 0) return true
  if (name === 'create') return false
  if (name !== 'apply' && name !== 'ask') return true
  const held = mirror.fileBytes(String(values[1]))
  return held === undefined || held > LIGHT_AGENT_BYTES
}

export function startStepThread(data: StepThreadData, startedAtMs: number): StepThread {
  const file = join(import.meta.dirname, `step-thread${extname(import.meta.filename)}`)
  const thread = new Thread(file, data, toAgentError, { heapMegabytes: STEP_HEAP_MEGABYTES })
  const mirror = new StepMirror()
  const turns = new Turns(STEPS_AT_ONCE)
  // Of those that are long, one: who comes next waits for that one at most.
  const longTurns = new Turns(1)
  const ask =
    (name: keyof Operations) =>
    async (...values: unknown[]) => {
      const known = mirror.answer(name, values)
      if (known !== undefined) return known
      try {
        const request = packRequest(name, values)
        const send = () => thread.ask<StepAnswer>(request)
        const whose = ownerOf(name, values)
        const inTurn = () => (whose === undefined ? send() : turns.run(whose, send))
        const isLong = whose !== undefined && mayBeLong(name, values, request, mirror)
        const answer = await (isLong ? longTurns.run(whose, inTurn) : inTurn())
        const { value, length } = readAnswer(name, values, answer)
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
