// Calls whose server has asked something while a client of the stateless era waits: the client is
// told what is wanted and comes back with the answers, and the call at the server stays open
// meanwhile. A handle is good for one return.

import { randomUUID } from 'node:crypto'
import type { Answer, Id } from '../../wire/message.ts'
import { INPUT_HELD_MAX, INPUT_HELD_MS } from '../limits.ts'

/** A question of the server's, under the key the client answers it by. */
export interface Question {
  readonly key: string
  /** As the server calls its request. */
  readonly id: Id
  /** `{ method, params }` as text. */
  readonly text: string
}

export interface HeldCall {
  /** As the server knows the call. */
  readonly call: Id
  readonly questions: readonly Question[]
  /** What the server said while nobody waited. */
  final?: Answer
}

export class HeldCalls {
  readonly #held = new Map<string, HeldCall>()
  readonly #onExpired: (held: HeldCall) => void

  constructor(onExpired: (held: HeldCall) => void) {
    this.#onExpired = onExpired
  }

  /** Undefined where too many wait already. */
  hold(call: Id, questions: readonly Question[]): string | undefined {
    if (this.#held.size >= INPUT_HELD_MAX) return undefined
    const handle = randomUUID()
    const held = { call, questions }
    this.#held.set(handle, held)
    setTimeout(() => {
      if (this.#held.delete(handle)) this.#onExpired(held)
    }, INPUT_HELD_MS).unref()
    return handle
  }

  take(handle: string): HeldCall | undefined {
    const held = this.#held.get(handle)
    this.#held.delete(handle)
    return held
  }

  of(call: Id): HeldCall | undefined {
    return [...this.#held.values()].find((held) => held.call === call)
  }
}
