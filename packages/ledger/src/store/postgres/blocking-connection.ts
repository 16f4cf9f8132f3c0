// A connection to PostgreSQL for a thread that may block: a batch of statements goes to a thread of its own,
// and the caller sleeps until the results are there or the deadline has passed. For the step thread of the
// agents, which runs guests and commits their steps one after the other; never for the thread of a gate.

import { extname, join } from 'node:path'
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads'
import { StoreError } from '../errors.ts'
import { BLOCKING_DEADLINE_MS, BLOCKING_GRACE_MS, SHARED_RETRY_MS_MAX } from '../limits.ts'
import { describePostgres, type PostgresAddress } from './address.ts'
import { toUnreachable } from './explain-failure.ts'

/** The SQLSTATE of a division by zero, as which a fence fails: this gate may not write any more. */
const FENCED = '22012'

export interface BlockingStatement {
  readonly text: string
  readonly values?: readonly unknown[]
}

export interface BlockingThreadData {
  readonly address: PostgresAddress
  readonly bell: Int32Array
}

export interface BlockingRequest {
  readonly id: number
  /** None: the connection is given up. */
  readonly statements: readonly BlockingStatement[]
  /** Only over the connection of the batch before: a transaction does not go on over another one. */
  readonly isContinued?: boolean
}

export type SqlRows = readonly Readonly<Record<string, unknown>>[]

export interface BlockingReply {
  readonly id: number
  readonly results?: readonly SqlRows[]
  readonly error?: { readonly message: string; readonly code: string }
}

export class BlockingConnection {
  readonly #address: PostgresAddress
  readonly #bell = new Int32Array(new SharedArrayBuffer(4))
  readonly #port: MessagePort
  readonly #worker: Worker
  #last = 0
  /** Until then the next batch fails at once: those that queue behind one must not each wait for the deadline. */
  #downUntilMs = Number.NEGATIVE_INFINITY
  #downWhy = ''

  constructor(address: PostgresAddress) {
    this.#address = address
    const { port1, port2 } = new MessageChannel()
    this.#port = port1
    const file = join(import.meta.dirname, `blocking-thread${extname(import.meta.filename)}`)
    this.#worker = new Worker(file, {
      workerData: { address, bell: this.#bell, port: port2 },
      transferList: [port2],
      env: {},
    })
    this.#worker.unref()
    this.#port.unref()
  }

  /** The rows of each statement. Throws a StoreError of STORE_UNREACHABLE if the effect is unknown, of
   * STORE_FENCED if a fence failed, and otherwise an error with the SQLSTATE as `code`. */
  send(statements: readonly BlockingStatement[], isContinued = false): readonly SqlRows[] {
    if (performance.now() < this.#downUntilMs) throw this.#unreachable(this.#downWhy)
    this.#last += 1
    const id = this.#last
    this.#port.postMessage({ id, statements, isContinued } satisfies BlockingRequest)
    const reply = this.#wait(id, performance.now() + BLOCKING_DEADLINE_MS + BLOCKING_GRACE_MS)
    if (reply?.results !== undefined) return reply.results
    if (reply?.error?.code === FENCED)
      throw new StoreError(
        'STORE_FENCED',
        'another gate has taken over the agents of this one',
        'the gate goes on with the agents that are left to it',
      )
    if (reply?.error !== undefined && reply.error.code !== 'STORE_UNREACHABLE')
      throw Object.assign(new Error(reply.error.message), { code: reply.error.code })
    if (reply === undefined)
      this.#port.postMessage({ id, statements: [] } satisfies BlockingRequest)
    this.#downWhy = reply?.error?.message ?? `no answer within ${BLOCKING_DEADLINE_MS} ms`
    this.#downUntilMs = performance.now() + SHARED_RETRY_MS_MAX
    throw this.#unreachable(this.#downWhy)
  }

  #unreachable(message: string): StoreError {
    return toUnreachable(describePostgres(this.#address), { message })
  }

  close(): void {
    this.#port.close()
    void this.#worker.terminate()
  }

  #wait(id: number, untilMs: number): BlockingReply | undefined {
    for (;;) {
      const rung = Atomics.load(this.#bell, 0)
      for (;;) {
        const found = receiveMessageOnPort(this.#port) as { message: BlockingReply } | undefined
        if (found === undefined) break
        // An answer that came too late is that of an earlier batch.
        if (found.message.id === id) return found.message
      }
      const leftMs = untilMs - performance.now()
      if (leftMs <= 0) return undefined
      Atomics.wait(this.#bell, 0, rung, leftMs)
    }
  }
}
