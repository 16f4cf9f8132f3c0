// The outside of a thread that runs guests: requests go in, answers come out in any order. If a
// call uses twice its limit, a watchdog ends the thread, starts a new one, fails the request that
// hung and resends the others: a step has no effects, so it is safe to run it twice (idempotent).

import { Worker } from 'node:worker_threads'
import { SandboxError } from './errors.ts'
import { WATCH, WATCH_CELLS } from './hard-limit.ts'
import { THREAD_FAILURES_MAX, THREAD_YOUNG_MEGABYTES, WATCHDOG_INTERVAL_MS } from './limits.ts'
import { readMonotonicMs } from './monotonic-clock.ts'

interface PendingThreadRequest {
  readonly body: unknown
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
}

export interface ThreadAnswer {
  readonly id: number
  readonly value?: unknown
  readonly error?: { readonly code?: string; readonly message: string }
}

export interface ThreadStart {
  /** The running call, by the places of `WATCH`. */
  readonly watch: Float64Array
  /** Notified after every request: a thread that has just answered waits on nothing else. */
  readonly bell: Int32Array
  readonly data: unknown
}

export interface ThreadOptions {
  /** Old-generation heap of V8; a thread that exceeds it ends, and a new one is started. */
  readonly heapMegabytes?: number
}

export class Thread {
  readonly #file: string
  readonly #data: unknown
  readonly #watch = new Float64Array(new SharedArrayBuffer(8 * WATCH_CELLS))
  readonly #bell = new Int32Array(new SharedArrayBuffer(4))
  readonly #waiting = new Map<number, PendingThreadRequest>()
  readonly #options: ThreadOptions
  readonly #toError: (error: { code?: string; message: string }) => Error
  #worker: Worker
  #timer: NodeJS.Timeout | undefined
  #next = 1
  #closed = false
  /** Consecutive threads that ended while idle. */
  #failures = 0

  /** `toError` converts the errors in the thread's answers to those of the caller. */
  constructor(
    file: string,
    data: unknown,
    toError: (error: { code?: string; message: string }) => Error,
    options: ThreadOptions = {},
  ) {
    this.#options = options
    this.#file = file
    this.#data = data
    this.#toError = toError
    this.#worker = this.#start()
  }

  get load(): number {
    return this.#waiting.size
  }

  ask<Answer>(body: unknown): Promise<Answer> {
    if (this.#closed) return Promise.reject(createEndError('it was closed'))
    const id = this.#next
    this.#next += 1
    const reply = new Promise<unknown>((resolve, reject) => {
      // First: what cannot be cloned throws here, before it is registered as pending.
      this.#post({ id, body })
      this.#waiting.set(id, { body, resolve, reject })
      this.#timer ??= setInterval(() => this.#look(), WATCHDOG_INTERVAL_MS)
      // A request is pending: the process stays alive until it is answered.
      if (this.#waiting.size === 1) this.#timer.ref()
    })
    // What a request is answered with is known to those who send it: a thread has handlers of its own.
    return reply as Promise<Answer>
  }

  async close(): Promise<void> {
    this.#closed = true
    clearInterval(this.#timer)
    await this.#worker.terminate()
    this.#failAll(createEndError('it was closed'))
  }

  #post(request: { id: number; body: unknown }): void {
    this.#worker.postMessage(request)
    Atomics.add(this.#bell, 0, 1)
    Atomics.notify(this.#bell, 0)
  }

  #start(): Worker {
    const { heapMegabytes } = this.#options
    const start: ThreadStart = { watch: this.#watch, bell: this.#bell, data: this.#data }
    const worker = new Worker(this.#file, {
      workerData: start,
      env: threadEnvironment(),
      stdin: false,
      // A thread has few short-lived objects; by default they may take 50 MB before they are
      // collected.
      resourceLimits: {
        maxYoungGenerationSizeMb: THREAD_YOUNG_MEGABYTES,
        ...(heapMegabytes === undefined ? {} : { maxOldGenerationSizeMb: heapMegabytes }),
      },
    })
    // A thread must not keep an otherwise idle process alive.
    worker.unref()
    worker.on('message', (answer: ThreadAnswer) => this.#settle(answer))
    worker.on('error', (error) => {
      if (worker === this.#worker) this.#replace(createEndError(error.message))
    })
    worker.on('exit', () => {
      if (worker === this.#worker && !this.#closed)
        this.#replace(createEndError('it ended by itself'))
    })
    return worker
  }

  #settle({ id, value, error }: ThreadAnswer): void {
    const waiting = this.#waiting.get(id)
    if (waiting === undefined) return
    this.#failures = 0
    this.#waiting.delete(id)
    // Stops when nothing is pending: one timer per request would cost more.
    if (this.#waiting.size === 0) this.#timer?.unref()
    if (error === undefined) waiting.resolve(value)
    else waiting.reject(this.#toError(error))
  }

  #look(): void {
    if (this.#waiting.size === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
      return
    }
    const read = (place: number): number => this.#watch[place] as number
    const until = read(WATCH.wallUntilMs)
    const now = readMonotonicMs()
    if (until === 0) return
    if (now >= until) this.#replace(createEndError('a guest hung in it'))
    else if (read(WATCH.cpuUntilMs) > 0 && now >= read(WATCH.cpuFromMs))
      void this.#lookAtCpu(this.#worker)
  }

  /** A guest may be in a loop that never polls. Node before 24.6 does not tell the time that a thread has used: there the
   * bound of wall time is left. */
  async #lookAtCpu(worker: Worker): Promise<void> {
    const used = await worker.cpuUsage?.().catch(() => undefined)
    if (used === undefined || worker !== this.#worker || this.#closed) return
    const until = this.#watch[WATCH.cpuUntilMs] as number
    if (until > 0 && (used.user + used.system) / 1_000 >= until)
      this.#replace(createEndError('a guest hung in it'))
  }

  /** The running request fails; the others go to the new thread. */
  #replace(why: SandboxError): void {
    const old = this.#worker
    const culprit = this.#watch[WATCH.request] as number
    this.#watch.fill(0)
    const failed = this.#waiting.get(culprit)
    // A request that ends its thread fails with it: the others are answered, however many there
    // are.
    if (failed === undefined) this.#failures += 1
    if (this.#failures > THREAD_FAILURES_MAX) {
      void this.close()
      return this.#failAll(why)
    }
    this.#worker = this.#start()
    void old.terminate()
    this.#waiting.delete(culprit)
    failed?.reject(why)
    for (const [id, { body }] of this.#waiting) this.#post({ id, body })
  }

  #failAll(why: Error): void {
    for (const { reject } of this.#waiting.values()) reject(why)
    this.#waiting.clear()
  }
}

function createEndError(why: string): SandboxError {
  return new SandboxError('SANDBOX_THREAD', `the thread that runs guests is gone: ${why}`)
}

/**
 * No secrets of the process; only what shows a thread that a data directory belongs to the user.
 */
function threadEnvironment(): Record<string, string> {
  const names = ['XDG_STATE_HOME', 'LOCALAPPDATA', 'SLUICE_TRUST_DATA']
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = process.env[name]
      return value === undefined ? [] : [[name, value]]
    }),
  )
}
