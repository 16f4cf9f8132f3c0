// Large messages of servers. Each takes several times its length of memory until its client has it, so only a number
// of them is read at once, over all servers, and they are inspected and written one at a time. A reader that
// holds much of a message reads on when it has a place. Used by the readers of upstream and by inspect-result.ts.

import { LARGE_MESSAGE_BYTES_MIN, LARGE_MESSAGE_MS_MAX, LARGE_MESSAGES_MAX } from './limits.ts'
import { takeTurn } from './slices.ts'

let lastHandled: Promise<unknown> = Promise.resolve()

/** Runs work on a large message after that on all earlier ones. */
export function afterLarge<Result>(work: () => Result | Promise<Result>): Promise<Result> {
  const result = lastHandled.then(work)
  // What was made of it has been sent by the next turn.
  lastHandled = result.catch(() => {}).then(takeTurn)
  return result
}

let free = LARGE_MESSAGES_MAX
const waiting = new Set<LargeMessagePlace>()

function giveBack(): void {
  const [next] = waiting
  if (next === undefined) free++
  else next.take()
}

/** The place of one reader, for one message after the other. */
export class LargeMessagePlace {
  readonly #onTaken: () => void
  /** Until then the place is the reader's. A server that sends no more must not keep it from others. */
  #timer: NodeJS.Timeout | undefined

  /** `onTaken`: the reader had to wait, and reads on. */
  constructor(onTaken: () => void) {
    this.#onTaken = onTaken
  }

  /** Whether the reader has to wait before it reads on. */
  get isWaiting(): boolean {
    return waiting.has(this)
  }

  /** Told after each read how much the reader holds of a message that is not complete. If it holds little, what it
   * had before was handed over, and the place is given back when that has been handled. */
  hold(bytes: number): void {
    const isLarge = bytes > LARGE_MESSAGE_BYTES_MIN
    if (!isLarge && this.#timer !== undefined) this.leave()
    if (!isLarge || this.#timer !== undefined) return
    if (free === 0) return void waiting.add(this)
    free--
    this.#keep()
  }

  take(): void {
    waiting.delete(this)
    this.#keep()
    this.#onTaken()
  }

  /** The reader has handed over what it held, or has ended. */
  leave(): void {
    waiting.delete(this)
    if (this.#timer === undefined) return
    this.#release()
    // After two turns the message is among those that are handled one after the other.
    void takeTurn()
      .then(takeTurn)
      .then(() => afterLarge(giveBack))
  }

  #keep(): void {
    this.#timer = setTimeout(() => {
      this.#release()
      giveBack()
    }, LARGE_MESSAGE_MS_MAX).unref()
  }

  #release(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }
}
