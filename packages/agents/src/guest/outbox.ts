// What one step hands out: effects, those nobody needs any more, runs that ended, and the answer to
// a call somebody made directly. Emptied at the start of every step.

import type { Effect, RunEnd, RunStop, TokenUsage } from './protocol.ts'

type WithoutId<Each> = Each extends { id: string } ? Omit<Each, 'id'> : never
export type EffectBody = WithoutId<Effect>

export class Outbox {
  effects: Effect[] = []
  dropped: string[] = []
  ended: RunEnd[] = []
  output: { content: string; isError: boolean } | null = null
  #next = 1

  clear(): void {
    this.effects = []
    this.dropped = []
    this.ended = []
    this.output = null
  }

  send(effect: EffectBody): string {
    const id = `e${this.#next++}`
    this.effects.push({ ...effect, id } as Effect)
    return id
  }

  /** One that was sent in this very step was never sent. */
  drop(effectId: string): void {
    const sent = this.effects.findIndex(({ id }) => id === effectId)
    if (sent >= 0) this.effects.splice(sent, 1)
    else this.dropped.push(effectId)
  }

  /** A prompt that never began. */
  endQueued(runId: string, reason: RunStop, detail: string, usage: TokenUsage): void {
    const stop = { reason, detail }
    this.ended.push({ runId, response: '', turns: 0, toolCalls: 0, stop, usage })
  }
}
