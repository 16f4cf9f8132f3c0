// The inside of a thread: handles requests one after the other and answers each. Errors are sent as
// code and text. Right after an answer it blocks on the bell (Atomics.wait), which costs half of
// what the event loop does; when idle it returns to the event loop, where timers run. Called by the
// entry of every thread that runs guests.

import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { watchCalls } from './hard-limit.ts'
import { AWAKE_MS_MAX, AWAKE_PAUSE_MS } from './limits.ts'
import { readMonotonicMs } from './monotonic-clock.ts'
import type { ThreadAnswer, ThreadStart } from './thread.ts'

interface ThreadRequest {
  readonly id: number
  readonly body: unknown
}

type Handle = (body: never) => { value: unknown; transfer?: ArrayBuffer[] }

/** What the thread was started with. */
export function threadData<Data>(): Data {
  return (workerData as ThreadStart).data as Data
}

export interface ServeOptions {
  /** Runs after an answer, if no other request has arrived. */
  readonly rest?: () => void
  /** A request that takes longer fails and ends the thread; for threads that run no guest. */
  readonly timeoutMs?: number
}

export function serveThread(handle: Handle, { rest, timeoutMs }: ServeOptions = {}): void {
  const { watch, bell } = workerData as ThreadStart
  const port = parentPort as MessagePort
  watchCalls(watch)
  const answer = ({ id, body }: ThreadRequest): void => {
    const say = (said: ThreadAnswer, transfer: ArrayBuffer[] = []) =>
      port.postMessage(said, transfer)
    watch[1] = id
    if (timeoutMs !== undefined) watch[0] = readMonotonicMs() + timeoutMs
    try {
      const { value, transfer } = handle(body as never)
      say({ id, value }, transfer)
    } catch (error) {
      const { code, message } = error as { code?: string; message?: string }
      say({ id, error: { message: message ?? String(error), ...(code ? { code } : {}) } })
    }
    if (timeoutMs !== undefined) watch[0] = 0
    watch[1] = 0
  }
  port.on('message', (first: ThreadRequest) => {
    answer(first)
    const until = performance.now() + AWAKE_MS_MAX
    for (;;) {
      const rung = Atomics.load(bell, 0)
      const next = receiveMessageOnPort(port) as { message: ThreadRequest } | undefined
      if (next !== undefined) {
        answer(next.message)
        continue
      }
      rest?.()
      if (Atomics.wait(bell, 0, rung, AWAKE_PAUSE_MS) === 'timed-out') return
      if (performance.now() > until) return
    }
  })
}
