// What an agent has used up: turns, tool calls, tokens, cost, and how often it has gone in circles.
// The stop conditions are judged from this.

import type { ModelUsage, PortableAgent, Price, TokenUsage } from './protocol.ts'
import type { StopInputs } from './stopping.ts'

type RestoredUsage = Pick<PortableAgent, 'turnCount' | 'toolCallCount' | 'usage'>

const TURN_KEPT_LENGTH = 65_536

export class UsageMeter {
  turnCount = 0
  toolCallCount = 0
  usage: TokenUsage
  readonly #price: Price | null
  #lastTurn = ''
  #repeats = 0

  constructor(price: Price | null) {
    this.#price = price
    this.usage = this.nothing
  }

  /** Usage before anything was used; without a price there is no cost, not even none. */
  get nothing(): TokenUsage {
    const costMicros = this.#price === null ? null : 0
    return { inputTokens: 0, outputTokens: 0, totalTokens: 0, costMicros }
  }

  add(to: TokenUsage, { inputTokens, outputTokens }: ModelUsage): TokenUsage {
    const price = this.#price
    const cost = price && inputTokens * price.inputMicros + outputTokens * price.outputMicros
    return {
      inputTokens: to.inputTokens + inputTokens,
      outputTokens: to.outputTokens + outputTokens,
      totalTokens: to.totalTokens + inputTokens + outputTokens,
      costMicros: cost === null ? to.costMicros : (to.costMicros ?? 0) + cost,
    }
  }

  /**
   * A turn's calls with their results: the same again is no progress. Compared whole, which is
   * native and exact; what is too long to keep counts as progress.
   */
  noteTurn(seen: string): void {
    const isAgain = seen === this.#lastTurn && seen.length <= TURN_KEPT_LENGTH
    this.#repeats = isAgain ? this.#repeats + 1 : 1
    this.#lastTurn = seen.length <= TURN_KEPT_LENGTH ? seen : ''
  }

  forgetTurns(): void {
    this.#repeats = 0
    this.#lastTurn = ''
  }

  restore({ turnCount, toolCallCount, usage }: RestoredUsage): void {
    this.turnCount = turnCount
    this.toolCallCount = toolCallCount
    this.usage = usage
  }

  clear(): void {
    this.turnCount = 0
    this.toolCallCount = 0
    this.usage = this.nothing
    this.forgetTurns()
  }

  standing(runStartedAt: number | null): StopInputs {
    const { turnCount, toolCallCount, usage } = this
    return { turnCount, toolCallCount, usage, runStartedAt, repeats: this.#repeats }
  }
}
