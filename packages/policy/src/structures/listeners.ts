// Listeners of one kind of event. The owner keeps the object private, offers `subscribe` under the name of
// the event (`onChange`) and calls `emit`: nobody else can emit, or replace the listener of another.

export class Listeners<Arguments extends readonly unknown[] = []> {
  #all: readonly ((...values: Arguments) => void)[] = []

  /** Returns what ends the subscription. */
  readonly subscribe = (listener: (...values: Arguments) => void): (() => void) => {
    this.#all = [...this.#all, listener]
    return () => {
      this.#all = this.#all.filter((each) => each !== listener)
    }
  }

  emit(...values: Arguments): void {
    for (const listener of this.#all) listener(...values)
  }
}
