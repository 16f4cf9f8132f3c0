// The ledger as the console's endpoints read it: the questions of ledger-queries.ts, each a promise, answered
// in a thread that is started with the first of them and ended when it has been idle for some time.

import type { IncomingMessage } from 'node:http'
import { extname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { INDEX_CHECK_EVERY_MS } from '../../ledger/records/limits.ts'
import {
  FOLLOWER_IDLE_MS,
  INDEX_CHECK_WAIT_MS,
  READER_IDLE_MS,
  READINGS_MAX,
} from '../contract/console-limits.ts'
import { ApiError } from '../http/errors.ts'
import type { WorkInParts } from './histogram.ts'
import type { LedgerQueries } from './ledger-queries.ts'
import type { GiveUpRequest, ReaderOptions, ReadRequest } from './ledger-reader-thread.ts'

type ReadName = ReadRequest['ask']
type ReadArguments<Ask extends ReadName> = Parameters<LedgerQueries[Ask]>[0]
type ReadResult<Ask extends ReadName> =
  ReturnType<LedgerQueries[Ask]> extends WorkInParts<infer Result>
    ? Result
    : ReturnType<LedgerQueries[Ask]>

const USES_INDEX: ReadonlySet<ReadName> = new Set([
  'page',
  'call',
  'overview',
  'histogram',
  'names',
])

interface PendingRead {
  readonly resolve: (value: never) => void
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
  /** Checks the index for this one. */
  readonly #checker: LedgerReader | undefined
  readonly #waiting = new Map<number, PendingRead>()
  #worker: Worker | undefined
  #idle: NodeJS.Timeout | undefined
  #lastId = 0
  #checkAgainMs = Number.NEGATIVE_INFINITY
  #checking: Promise<unknown> = Promise.resolve()

  constructor(options: LedgerReaderOptions, checker?: LedgerReader) {
    this.#options = options
    this.#checker = checker
  }

  /** `asker`: if its connection is closed, the rest of the work is left undone. */
  ask<Ask extends ReadName>(
    ask: Ask,
    args: ReadArguments<Ask>,
    asker?: Pick<IncomingMessage, 'socket'>,
  ): Promise<ReadResult<Ask>> {
    if (this.#waiting.size >= READINGS_MAX)
      throw new ApiError('API_LIMIT', `${READINGS_MAX} questions wait for the ledger`, 'try again')
    const worker = this.#start()
    const id = ++this.#lastId
    clearTimeout(this.#idle)
    const onClose = () => this.#giveUp(id)
    asker?.socket.once('close', onClose)
    const reply = new Promise<ReadResult<Ask>>((resolve, reject) => {
      this.#waiting.set(id, { resolve: resolve as PendingRead['resolve'], reject })
      worker.ref()
      const ready = USES_INDEX.has(ask) ? this.#check() : Promise.resolve()
      ready.then(
        () => this.#waiting.has(id) && worker.postMessage({ id, ask, with: args }),
        (error: Error) => this.#answered(id, undefined, error.message),
      )
    })
    return reply.finally(() => asker?.socket.off('close', onClose))
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle)
    const worker = this.#worker
    this.#worker = undefined
    await worker?.terminate()
    this.#fail('the gate is stopping')
  }

  /** A check of the index reads every row, seconds with millions of calls: questions wait for as long as
   * that of a small one takes. If it cannot be checked, nothing is answered from it. */
  #check(): Promise<unknown> {
    const nowMs = performance.now()
    if (this.#checker === undefined || nowMs < this.#checkAgainMs) return this.#checking
    this.#checkAgainMs = nowMs + INDEX_CHECK_EVERY_MS
    const checked = this.#checker.ask('checkIndex', undefined as never).then(({ rebuilt }) => {
      if (rebuilt !== undefined) this.ask('noteRebuilt', rebuilt).catch(() => {})
    })
    const late = new Promise((resolve) => setTimeout(resolve, INDEX_CHECK_WAIT_MS).unref())
    this.#checking = Promise.race([checked, late])
    checked.catch(() => {
      this.#checkAgainMs = Number.NEGATIVE_INFINITY
    })
    return this.#checking
  }

  #start(): Worker {
    if (this.#worker !== undefined) return this.#worker
    const file = join(import.meta.dirname, `ledger-reader-thread${extname(import.meta.filename)}`)
    const { directory, isMerged = false, store } = this.#options
    const isChecked = this.#checker === undefined
    const workerData: ReaderOptions = { directory, isChecked, isMerged, store }
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
    if (error === undefined) waiting.resolve(value as never)
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
