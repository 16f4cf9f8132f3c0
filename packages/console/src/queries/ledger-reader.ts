// The ledger as the console's endpoints read it: the questions of ledger-queries.ts, each a promise, answered
// in a thread that is started with the first of them and ended when it has been idle for some time.

import type { IncomingMessage } from 'node:http'
import { extname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { ApiError } from '../http/errors.ts'
import type { GiveUpRequest, ReaderOptions } from './ledger-reader-thread.ts'
import { FOLLOWER_IDLE_MS, READER_IDLE_MS, READINGS_MAX } from './limits.ts'
import type { ReadArguments, ReadName, ReadRequest, ReadResults } from './readings.ts'

interface PendingRead {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
}

export interface LedgerReaderOptions {
  readonly directory: string
  /** Reads the records of all gates that share a store; copied there by the reader that is given its address. */
  readonly isMerged?: boolean
  readonly store?: string | undefined
}

export class LedgerReader {
  readonly #options: LedgerReaderOptions
  readonly #waiting = new Map<number, PendingRead>()
  #worker: Worker | undefined
  #idle: NodeJS.Timeout | undefined
  #lastId = 0

  constructor(options: LedgerReaderOptions) {
    this.#options = options
  }

  /** `asker`: if its connection is closed, the rest of the work is left undone. */
  ask<Ask extends ReadName>(
    ask: Ask,
    args: ReadArguments[Ask],
    asker?: Pick<IncomingMessage, 'socket'>,
  ): Promise<ReadResults[Ask]> {
    if (this.#waiting.size >= READINGS_MAX)
      throw new ApiError('API_LIMIT', `${READINGS_MAX} questions wait for the ledger`, 'try again')
    const worker = this.#start()
    const id = ++this.#lastId
    clearTimeout(this.#idle)
    const onClose = () => this.#giveUp(id)
    asker?.socket.once('close', onClose)
    const reply = new Promise<unknown>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      worker.ref()
      worker.postMessage({ id, ask, with: args } satisfies ReadRequest<Ask>)
    }).finally(() => asker?.socket.off('close', onClose))
    // The thread answers by `Readings`.
    return reply as Promise<ReadResults[Ask]>
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle)
    const worker = this.#worker
    this.#worker = undefined
    await worker?.terminate()
    this.#fail('the gate is stopping')
  }

  #start(): Worker {
    if (this.#worker !== undefined) return this.#worker
    const file = join(import.meta.dirname, `ledger-reader-thread${extname(import.meta.filename)}`)
    const { directory, isMerged = false, store } = this.#options
    const workerData: ReaderOptions = { directory, isMerged, store }
    const worker = new Worker(file, { workerData })
    worker.on('message', ({ id, value, error }) => this.#answered(id, value, error))
    worker.on('error', (error) => this.#ended(worker, error.message))
    worker.on('exit', () => this.#ended(worker, 'the thread that reads the ledger has ended'))
    this.#worker = worker
    return worker
  }

  #answered(id: number, value: unknown, error: string | undefined): void {
    const waiting = this.#waiting.get(id)
    if (waiting === undefined) return
    this.#waiting.delete(id)
    if (error === undefined) waiting.resolve(value)
    else waiting.reject(new ApiError('API_FAULT', error, 'see `sluice ledger verify`'))
    if (this.#waiting.size > 0) return
    this.#worker?.unref()
    const idleMs = this.#options.store === undefined ? READER_IDLE_MS : FOLLOWER_IDLE_MS
    this.#idle = setTimeout(() => void this.close(), idleMs).unref()
  }

  #giveUp(id: number): void {
    this.#worker?.postMessage({ id, ask: 'give up' } satisfies GiveUpRequest)
    this.#answered(id, undefined, 'the connection was closed before the answer')
  }

  #ended(worker: Worker, why: string): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    this.#fail(why)
  }

  #fail(why: string): void {
    for (const { reject } of this.#waiting.values())
      reject(new ApiError('API_FAULT', why, 'try again'))
    this.#waiting.clear()
  }
}
