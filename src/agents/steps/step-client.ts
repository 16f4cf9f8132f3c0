// The step thread as the rest of the room sees it: the same operations, each a promise. A change
// carries a name of its own, so that one whose answer was lost with a thread is not made twice. What
// is known of an agent since its last change is answered without the thread.

import { extname, join } from 'node:path'
import { Thread } from '../../sandbox/thread.ts'
import { toAgentError } from '../errors.ts'
import type { Operations } from './operations.ts'
import { StepMirror } from './step-mirror.ts'
import type { StepThreadData } from './step-thread.ts'
import { packRequest, readAnswer, type StepAnswer } from './step-words.ts'

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

export function startStepThread(data: StepThreadData, startedAtMs: number): StepThread {
  const file = join(import.meta.dirname, `step-thread${extname(import.meta.filename)}`)
  const thread = new Thread(file, data, toAgentError)
  const mirror = new StepMirror()
  const ask =
    (name: keyof Operations) =>
    async (...values: unknown[]) => {
      const known = mirror.answer(name, values)
      if (known !== undefined) return known
      try {
        const answer = await thread.ask<StepAnswer>(packRequest(name, values))
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
