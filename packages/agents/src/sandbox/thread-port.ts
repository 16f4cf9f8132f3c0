// The inside of a thread: handles requests one after the other and answers each. Errors are sent as
// code and text. Right after an answer it blocks on the bell (Atomics.wait), which costs half of
// what the event loop does; when idle it returns to the event loop, where timers run. Called by the
// entry of every thread that runs guests.

import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { WATCH, watchCalls } from './hard-limit.ts'
import { AWAKE_MS_MAX, AWAKE_PAUSE_MS } from './limits.ts'
import { readMonotonicMs } from './monotonic-clock.ts'
import type { ThreadAnswer, ThreadStart } from './thread.ts'

interface ThreadRequest {
  readonly id: number
  readonly body: unknown
}

interface HandlerResult {
  readonly value: unknown
  readonly transfer?: ArrayBuffer[]
}

/** A promise only if the request has to wait for something: the next request waits with it. */
type Handle<Body> = (body: Body) => HandlerResult | Promise<HandlerResult>

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

export function serveThread<Body>(
  handle: Handle<Body>,
  { rest, timeoutMs }: ServeOptions = {},
): void {
  const { watch, bell } = workerData as ThreadStart
  const port = parentPort as MessagePort
  watchCalls(watch)
  const send = (id: number, { value, transfer = [] }: HandlerResult): void =>
    port.postMessage({ id, value } satisfies ThreadAnswer, transfer)
  const fail = (id: number, error: unknown): void => {
    const { code, message } = error as { code?: string; message?: string }
    const failure = { message: message ?? String(error), ...(code ? { code } : {}) }
    port.postMessage({ id, error: failure } satisfies ThreadAnswer)
  }
  const answer = async ({ id, body }: ThreadRequest): Promise<void> => {
    watch[WATCH.request] = id
    if (timeoutMs !== undefined) watch[WATCH.wallUntilMs] = readMonotonicMs() + timeoutMs
    try {
      const handled = handle(body as Body)
      send(id, handled instanceof Promise ? await handled : handled)
    } catch (error) {
      fail(id, error)
    }
    if (timeoutMs !== undefined) watch[WATCH.wallUntilMs] = 0
    watch[WATCH.request] = 0
  }
  const waiting: ThreadRequest[] = []
  let isServing = false
  const serve = async (): Promise<void> => {
    isServing = true
    const until = performance.now() + AWAKE_MS_MAX
    for (;;) {
      const rung = Atomics.load(bell, 0)
      const next = waiting.shift() ?? receive(port)
      if (next !== undefined) {
        await answer(next)
        continue
      }
      rest?.()
      if (Atomics.wait(bell, 0, rung, AWAKE_PAUSE_MS) === 'timed-out') break
      if (performance.now() > until) break
    }
    isServing = false
  }
  port.on('message', (request: ThreadRequest) => {
    waiting.push(request)
    if (!isServing) void serve()
  })
}

function receive(port: MessagePort): ThreadRequest | undefined {
  return (receiveMessageOnPort(port) as { message: ThreadRequest } | undefined)?.message
}
