// The step thread as the rest of the room sees it: the same operations, each a promise. A change
// carries a name of its own, so that one whose answer was lost with a thread is not made twice.

import { extname, join } from 'node:path'
import { Thread } from '../sandbox/thread.ts'
import { toAgentError } from './errors.ts'
import type { Operations } from './operations.ts'
import type { StepThreadData } from './step-thread.ts'

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
  const ask =
    (name: string) =>
    (...values: unknown[]) =>
      thread.ask({ name, values })
  const steps = new Proxy({} as Steps, {
    get: (_, name) => (typeof name === 'string' && name !== 'then' ? ask(name) : undefined),
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
