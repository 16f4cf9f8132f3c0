// Answers of guests, kept by agent and version: what was asked of an agent that has not changed
// since is not asked again. Bounded by count and by bytes; the oldest go first.

import { ANSWER_KEPT_BYTES_MAX, ANSWERS_KEPT_BYTES_MAX, ANSWERS_KEPT_MAX } from './limits.ts'
import type { Answered } from './stepper.ts'

export class AnswerCache {
  readonly #kept = new Map<string, { answered: Answered; bytes: number }>()
  #bytes = 0

  get(agent: number, seq: number, question: string): Answered | undefined {
    return this.#kept.get(`${agent} ${seq} ${question}`)?.answered
  }

  put(agent: number, seq: number, question: string, answered: Answered, length: number): void {
    const bytes = length + (answered.content?.length ?? 0)
    if (bytes > ANSWER_KEPT_BYTES_MAX) return
    this.#kept.set(`${agent} ${seq} ${question}`, { answered, bytes })
    this.#bytes += bytes
    for (const [name, oldest] of this.#kept) {
      if (this.#kept.size <= ANSWERS_KEPT_MAX && this.#bytes <= ANSWERS_KEPT_BYTES_MAX) break
      this.#kept.delete(name)
      this.#bytes -= oldest.bytes
    }
  }
}
