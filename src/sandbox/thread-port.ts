// The same thread, seen from inside: takes requests one after the other and answers each. Errors go
// out as code and text. Called by the entry of every thread that runs guests.

import { parentPort, workerData } from 'node:worker_threads'
import { watchCalls } from './hard-limit.ts'
import type { ThreadAnswer, ThreadStart } from './thread.ts'

/** What the thread was started with. */
export function threadData<Data>(): Data {
  return (workerData as ThreadStart).data as Data
}

export function serveThread(handle: (body: never) => { value: unknown; transfer?: ArrayBuffer[] }) {
  const { watch } = workerData as ThreadStart
  watchCalls(watch)
  parentPort?.on('message', ({ id, body }: { id: number; body: unknown }) => {
    watch[1] = id
    const answer = (said: ThreadAnswer, transfer: ArrayBuffer[] = []) =>
      parentPort?.postMessage(said, transfer)
    try {
      const { value, transfer } = handle(body as never)
      answer({ id, value }, transfer)
    } catch (error) {
      const { code, message } = error as { code?: string; message?: string }
      answer({ id, error: { message: message ?? String(error), ...(code ? { code } : {}) } })
    }
    watch[1] = 0
  })
}
