// The end of a gate that pipes have started: a while after its last client is gone, and never for a
// gate that a person started.

import { PIPED_GATE_IDLE_MS } from '../shared/limits.ts'

export class IdleShutdown {
  readonly end: Promise<string>
  readonly #isPiped: boolean
  #resolve: (why: string) => void = () => {}
  #timer: NodeJS.Timeout | undefined

  constructor(isPiped: boolean) {
    this.#isPiped = isPiped
    this.end = new Promise((resolve) => {
      this.#resolve = resolve
    })
    this.clients(0)
  }

  clients(count: number): void {
    clearTimeout(this.#timer)
    if (!this.#isPiped || count > 0) return
    const why = 'no client for a while'
    this.#timer = setTimeout(() => this.#resolve(why), PIPED_GATE_IDLE_MS).unref()
  }
}
