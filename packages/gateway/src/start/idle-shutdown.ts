// The end of a gate: for one that pipes have started a while after its last client and the last open page
// are gone; for any when somebody asks for it.

import { PIPED_GATE_IDLE_MS } from '../shared/limits.ts'

export class IdleShutdown {
  readonly #end = Promise.withResolvers<string>()
  readonly end = this.#end.promise
  readonly #isPiped: boolean
  #timer: NodeJS.Timeout | undefined
  #clients = 0
  #pages = 0

  constructor(isPiped: boolean) {
    this.#isPiped = isPiped
    this.#look()
  }

  clients(count: number): void {
    this.#clients = count
    this.#look()
  }

  /** Connections of browsers. */
  pages(count: number): void {
    this.#pages = count
    this.#look()
  }

  stop(why: string): void {
    this.#end.resolve(why)
  }

  #look(): void {
    clearTimeout(this.#timer)
    if (!this.#isPiped || this.#clients + this.#pages > 0) return
    const why = 'no client for a while'
    this.#timer = setTimeout(() => this.#end.resolve(why), PIPED_GATE_IDLE_MS).unref()
  }
}
