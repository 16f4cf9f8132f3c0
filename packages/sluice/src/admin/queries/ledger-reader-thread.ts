// The thread that reads the ledger for the console: takes a question at a time and answers it, and
// brings the index up to date between them. Started by ledger-reader.ts; ends with the gate.

import { parentPort, workerData } from 'node:worker_threads'
import { LedgerQueries } from './ledger-queries.ts'

const { directory } = workerData as { readonly directory: string }
const reading = new LedgerQueries(directory)

export interface ReadRequest {
  readonly id: number
  readonly ask:
    | 'page'
    | 'call'
    | 'stretch'
    | 'events'
    | 'overview'
    | 'histogram'
    | 'names'
    | 'past'
    | 'verify'
    | 'tools'
    | 'draft'
  readonly with: unknown
}

parentPort?.on('message', ({ id, ask, with: args }: ReadRequest) => {
  try {
    parentPort?.postMessage({ id, value: reading[ask](args as never) })
  } catch (error) {
    parentPort?.postMessage({ id, error: (error as Error).message })
  }
  scheduleIndexing()
})

let isGoing = false

/** Questions that came meanwhile are answered between two steps; half of the time is the gate's. */
function scheduleIndexing(pauseMs = 0): void {
  if (isGoing) return
  isGoing = true
  setTimeout(() => {
    isGoing = false
    const beganMs = performance.now()
    try {
      if (reading.goOn()) scheduleIndexing(performance.now() - beganMs)
    } catch {
      // The next question says what is wrong with it.
    }
  }, pauseMs)
}
