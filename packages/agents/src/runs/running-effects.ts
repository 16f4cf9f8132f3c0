// The effects that are being carried out, each with what cancels it. An effect whose result is being
// committed can no longer be cancelled, and must not be started again. Owned by the service.

import type { EffectRow } from '../journal/rows.ts'

interface RunningEffect {
  readonly abort: AbortController
  /** The effect waits for a person's decision, which may take days. */
  isWaiting: boolean
  readonly done: Promise<void>
}

export class RunningEffects {
  readonly #running = new Map<string, RunningEffect>()
  /** Effects with a result that is not in the journal yet. */
  readonly #committing = new Map<string, Promise<void>>()
  #closed = false

  get isClosed(): boolean {
    return this.#closed
  }

  /** Starts the work of an effect, unless it is under way already. `work` handles its own errors. */
  start(name: string, work: (signal: AbortSignal) => Promise<void>): void {
    if (this.#closed || this.#running.has(name)) return
    const abort = new AbortController()
    const done = work(abort.signal).finally(() => this.#running.delete(name))
    this.#running.set(name, { abort, done, isWaiting: false })
  }

  /** From here on the effect has a result. */
  beginCommit(name: string): void {
    this.#committing.set(name, this.#running.get(name)?.done ?? Promise.resolve())
    this.#running.delete(name)
  }

  endCommit(name: string): void {
    this.#committing.delete(name)
  }

  isUnderWay({ agent, id }: Pick<EffectRow, 'agent' | 'id'>): boolean {
    const name = `${agent} ${id}`
    return this.#running.has(name) || this.#committing.has(name)
  }

  /** Cancels effects that the agent no longer waits for. */
  cancel(agent: string, effectIds: readonly string[]): void {
    for (const id of effectIds) this.#running.get(`${agent} ${id}`)?.abort.abort()
  }

  cancelAll(agent: string): void {
    for (const [name, { abort }] of this.#running) if (name.startsWith(`${agent} `)) abort.abort()
  }

  /** Waits for what an agent has sent, but not for a person. */
  async settle(agent: string): Promise<void> {
    const isOf = ([name]: readonly [string, unknown]) => name.startsWith(`${agent} `)
    const sent = [...this.#running].filter(isOf).map(([, effect]) => effect)
    const done = sent.filter(({ isWaiting }) => !isWaiting).map((effect) => effect.done)
    const committing = [...this.#committing].filter(isOf).map(([, end]) => end)
    await Promise.allSettled([...done, ...committing])
  }

  /** The agents are no longer this gate's. */
  async cancelEverything(): Promise<void> {
    for (const { abort } of this.#running.values()) abort.abort()
    await Promise.allSettled([...this.#running.values()].map(({ done }) => done))
  }

  wait(name: string): void {
    const running = this.#running.get(name)
    if (running !== undefined) running.isWaiting = true
  }

  /** Begins nothing more, and waits for what is under way, but not for a person. */
  async finish(over: Promise<void>): Promise<void> {
    this.#closed = true
    for (const { abort, isWaiting } of this.#running.values()) if (isWaiting) abort.abort()
    const all = Promise.allSettled([...this.#running.values()].map(({ done }) => done))
    await Promise.race([all, over])
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.cancelEverything()
  }
}
