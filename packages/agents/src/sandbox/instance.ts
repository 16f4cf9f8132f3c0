// One guest in its own memory. `call` passes an operation in and returns the answer as text and
// bytes; `save` and `load` snapshot and restore the guest. After any failure the instance is dead:
// its output is not trusted, and its memory is discarded. Owned by its creator.

import { readThreadCpuMs } from './cpu-clock.ts'
import { applyDelta, checkDelta, takeDelta } from './delta.ts'
import { SandboxError } from './errors.ts'
import { type GuestExports, type GuestWorld, guestImports } from './exports.ts'
import { runWithin } from './hard-limit.ts'
import type { Image } from './image.ts'
import {
  ANSWER_BYTES_MAX,
  JOBS_MAX,
  PAGE_BYTES,
  STACK_SCRUB_BYTES,
  THROWN_LENGTH_MAX,
  WATCHDOG_GRACE_MS,
} from './limits.ts'
import { instantiate } from './webassembly.ts'

export interface CallLimits {
  /** Counted: deterministic on every machine. */
  readonly polls: number
  /** Processor time of the thread: a call that it stops is never stored. */
  readonly timeoutMs: number
  /** The core is ours and counts its steps: the clock need not stop it, so that a busy machine does not. */
  readonly isOurs?: boolean
}

export interface GuestCall {
  readonly operation: string
  readonly text: string
  readonly bytes?: Uint8Array | undefined
  /** The value of `Date` inside. */
  readonly nowMs: number
  /** An operation that is called once the guest has come to rest, and whose answer is the answer. If a promise was
   * rejected that nothing handles, its third value is the reason. */
  readonly next?: string
}

export interface GuestAnswer {
  readonly text: string
  readonly bytes: Uint8Array | undefined
  /** How many of the counted polls were used. */
  readonly polls: number
}

/**
 * Bytes in a separate buffer: one from a pool would be transferred to another thread with all of
 * the pool.
 */
const ENCODER = new TextEncoder()

/** Offsets in the scratch area that every image has. */
const VALUES = 0
const LENGTH = 32
const OFFSET = 36
const WIDTH = 40
const CONTEXT = 44
/** Promises that were rejected and that nothing handles, and why the first of them was. In the guest's memory, so that they
 * go along when it rests. */
const REJECTED = 48
const REASON = 52

export class Instance {
  readonly image: Image
  readonly #world: GuestWorld
  readonly #guest: GuestExports
  #dead = false
  /** Unchanged since it was created from the image. */
  #clean = true
  #stackUsed = false

  /** `readMs` is the clock of `timeoutMs`. */
  constructor(image: Image, readMs = readThreadCpuMs) {
    this.image = image
    this.#world = {
      nowMs: 0,
      pollsLeft: 0,
      untilMs: 0,
      readMs,
      memory: undefined,
      onRejection: (promise, reason, isHandled) => this.#noteRejection(promise, reason, isHandled),
    }
    this.#guest = instantiate<GuestExports>(image.module, guestImports(this.#world))
    this.#world.memory = this.#guest.memory
  }

  get isDead(): boolean {
    return this.#dead
  }

  get memoryBytes(): number {
    return this.#guest.memory.buffer.byteLength
  }

  call(call: GuestCall, limits: CallLimits): GuestAnswer {
    if (this.#dead) throw new SandboxError('SANDBOX_TRAP', 'this instance is dead')
    this.#world.nowMs = call.nowMs
    this.#world.pollsLeft = limits.polls
    const isOurs = limits.isOurs === true
    this.#world.untilMs = isOurs
      ? Number.POSITIVE_INFINITY
      : this.#world.readMs() + limits.timeoutMs
    this.#clean = false
    this.tidy()
    this.#stackUsed = true
    try {
      const withinMs = 2 * limits.timeoutMs + (isOurs ? WATCHDOG_GRACE_MS : 0)
      const answer = runWithin(withinMs, () => {
        const first = this.#run(call)
        return call.next === undefined ? first : this.#runNext(call.next)
      })
      if (this.#guest.__stack_pointer.value !== this.image.facts.stackTop)
        throw new SandboxError('SANDBOX_TRAP', 'the guest left its stack in disorder')
      return { ...answer, polls: limits.polls - Math.max(0, this.#world.pollsLeft) }
    } catch (error) {
      this.#dead = true
      throw this.#explain(error, limits)
    }
  }

  /** A snapshot of the guest, for `load` of any instance of the same image. */
  save(): Buffer {
    return takeDelta(this.image, this.#guest.memory.buffer)
  }

  /** Everything above the stack, for `restore`; into the given buffer if it fits. */
  copy(into?: Buffer): Buffer {
    const { stackTop } = this.image.facts
    const length = this.memoryBytes - stackTop
    const copy = into?.length === length ? into : Buffer.allocUnsafeSlow(length)
    copy.set(new Uint8Array(this.#guest.memory.buffer, stackTop))
    return copy
  }

  /** False if the memory has grown since the copy was made: it cannot shrink. */
  restore(copy: Buffer): boolean {
    if (this.#dead || copy.length !== this.memoryBytes - this.image.facts.stackTop) return false
    this.#clean = false
    new Uint8Array(this.#guest.memory.buffer).set(copy, this.image.facts.stackTop)
    return true
  }

  /** Becomes the guest of the delta, or a new guest. */
  load(delta?: Buffer): void {
    const { base, facts } = this.image
    const wanted = delta === undefined ? base.length : checkDelta(this.image, delta)
    if (this.#dead || this.memoryBytes > wanted)
      throw new SandboxError('SANDBOX_TRAP', 'this instance cannot be used again')
    if (wanted > this.memoryBytes) this.#guest.memory.grow((wanted - this.memoryBytes) / PAGE_BYTES)
    const memory = new Uint8Array(this.#guest.memory.buffer)
    // The stack too: what is left there is another guest's.
    if (!this.#clean) memory.set(base)
    if (!this.#clean) memory.fill(0, base.length)
    this.#clean = delta === undefined && wanted === base.length
    if (delta !== undefined) applyDelta(memory, delta)
    this.#guest.__stack_pointer.value = facts.stackTop
  }

  /**
   * Makes a step start from the same bytes whatever ran before it in this memory. Done before the
   * next one, or when idle.
   */
  tidy(): void {
    if (!this.#stackUsed || this.#dead) return
    const { stackTop } = this.image.facts
    new Uint8Array(this.#guest.memory.buffer).fill(0, stackTop - STACK_SCRUB_BYTES, stackTop)
    this.#stackUsed = false
  }

  #runNext(operation: string) {
    const reason = this.#number(REASON)
    return this.#run({ operation, text: '' }, reason === 0 ? [] : [reason])
  }

  #noteRejection(promise: number, reason: number, isHandled: boolean): void {
    const before = this.#number(REASON)
    const count = this.#number(REJECTED) + (isHandled ? -1 : 1)
    this.#guest.qjs_free_value(promise)
    if (isHandled || before !== 0) this.#guest.qjs_free_value(reason)
    else this.#setNumber(REASON, reason)
    this.#setNumber(REJECTED, count)
    if (count > 0) return
    if (before !== 0) this.#guest.qjs_free_value(before)
    this.#setNumber(REASON, 0)
  }

  /** `more` are values of the guest that stay as they are. */
  #run(
    { operation, text, bytes }: Omit<GuestCall, 'nowMs'>,
    more: readonly number[] = [],
  ): {
    text: string
    bytes: Uint8Array | undefined
  } {
    const { facts } = this.image
    const guest = this.#guest
    const own = [this.#newText(operation), this.#newText(text)]
    if (bytes !== undefined) own.push(this.#newBytes(bytes))
    const values = [...own, ...more]
    const view = new DataView(guest.memory.buffer)
    values.forEach((value, index) => {
      view.setUint32(facts.scratch + VALUES + index * 4, value, true)
    })
    const result = guest.qjs_call(facts.entry, facts.nothing, values.length, facts.scratch + VALUES)
    for (const value of own) guest.qjs_free_value(value)
    if (guest.qjs_is_exception(result) !== 0) throw this.#thrown()
    this.#runJobs()
    const answer = this.#readAnswer(result)
    guest.qjs_free_value(result)
    return answer
  }

  #runJobs(): void {
    const guest = this.#guest
    for (let left = JOBS_MAX; guest.qjs_is_job_pending() !== 0; left -= 1) {
      if (left === 0 || this.#world.pollsLeft < 0)
        throw new SandboxError('SANDBOX_INTERRUPTED', 'the guest does not come to rest')
      const status = guest.qjs_execute_pending_job(this.image.facts.scratch + CONTEXT)
      if (status < 0) throw this.#thrown()
    }
  }

  /** A text, or a pair of a text and bytes. */
  #readAnswer(value: number): { text: string; bytes: Uint8Array | undefined } {
    const guest = this.#guest
    if (guest.qjs_is_string(value) !== 0) return { text: this.#readText(value), bytes: undefined }
    if (guest.qjs_is_array(value) === 0) throw noAnswer('it is not a text')
    const first = guest.qjs_get_prop_uint32(value, 0)
    const second = guest.qjs_get_prop_uint32(value, 1)
    if (guest.qjs_is_string(first) === 0) throw noAnswer('it does not begin with a text')
    const text = this.#readText(first)
    const bytes =
      guest.qjs_is_string(second) === 0
        ? this.#readBytes(second)
        : ENCODER.encode(this.#readText(second))
    guest.qjs_free_value(first)
    guest.qjs_free_value(second)
    return { text, bytes }
  }

  #readText(value: number): string {
    const at = this.#guest.qjs_get_string_len(value, this.image.facts.scratch + LENGTH)
    const length = this.#number(LENGTH)
    if (at === 0 || length > ANSWER_BYTES_MAX) throw noAnswer('it is too long')
    // A range outside of the memory throws here: the guest returned a false length.
    const text = Buffer.from(this.#guest.memory.buffer, at, length).toString('utf8')
    this.#guest.qjs_free_cstring(at)
    return text
  }

  #readBytes(value: number): Uint8Array {
    const guest = this.#guest
    const { scratch } = this.image.facts
    const buffer = guest.qjs_get_typed_array_buffer(
      value,
      scratch + OFFSET,
      scratch + LENGTH,
      scratch + WIDTH,
    )
    if (guest.qjs_is_exception(buffer) !== 0) throw noAnswer('its second part is not bytes')
    const offset = this.#number(OFFSET)
    const length = this.#number(LENGTH)
    const start = guest.qjs_get_array_buffer(buffer, scratch + LENGTH)
    const whole = this.#number(LENGTH)
    if (length > ANSWER_BYTES_MAX || offset + length > whole) throw noAnswer('it is too long')
    const bytes = new Uint8Array(guest.memory.buffer, start + offset, length).slice()
    guest.qjs_free_value(buffer)
    return bytes
  }

  #number(offset: number): number {
    return new DataView(this.#guest.memory.buffer).getUint32(
      this.image.facts.scratch + offset,
      true,
    )
  }

  #setNumber(offset: number, value: number): void {
    const view = new DataView(this.#guest.memory.buffer)
    view.setUint32(this.image.facts.scratch + offset, value, true)
  }

  #newText(text: string): number {
    const bytes = Buffer.from(text, 'utf8')
    const at = this.#place(bytes)
    const value = this.#guest.qjs_new_string(at, bytes.length)
    this.#guest.wasm_free(at)
    return value
  }

  #newBytes(bytes: Uint8Array): number {
    const at = this.#place(bytes)
    const value = this.#guest.qjs_new_uint8_array(at, bytes.length)
    this.#guest.wasm_free(at)
    return value
  }

  #place(bytes: Uint8Array): number {
    const at = this.#guest.wasm_malloc(bytes.length + 1)
    if (at === 0) throw new SandboxError('SANDBOX_TRAP', 'the guest has no memory left')
    new Uint8Array(this.#guest.memory.buffer).set(bytes, at)
    return at
  }

  #thrown(): SandboxError {
    if (this.#world.pollsLeft < 0)
      return new SandboxError('SANDBOX_INTERRUPTED', 'the guest used up its steps')
    const error = this.#guest.qjs_get_exception()
    const message = this.#readText(error).slice(0, THROWN_LENGTH_MAX)
    return new SandboxError('SANDBOX_THREW', `the guest threw \`${message}\``)
  }

  #explain(error: unknown, limits: CallLimits): SandboxError {
    if (this.#world.readMs() > this.#world.untilMs)
      return new SandboxError(
        'SANDBOX_TIMEOUT',
        `the guest was stopped after ${limits.timeoutMs} ms of processor time`,
      )
    if (error instanceof SandboxError) return error
    if (this.#world.pollsLeft < 0)
      return new SandboxError('SANDBOX_INTERRUPTED', `the guest used up its ${limits.polls} steps`)
    return new SandboxError('SANDBOX_TRAP', `the guest failed: ${String(error)}`, error)
  }
}

function noAnswer(why: string): SandboxError {
  return new SandboxError('SANDBOX_ANSWER', `the guest's answer cannot be read: ${why}`)
}
