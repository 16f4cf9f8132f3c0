// A value that several components show: each is drawn again when it changes.

import { useSyncExternalStore } from 'react'

export class SharedValue<Value> {
  #value: Value
  readonly #listeners = new Set<() => void>()

  constructor(value: Value) {
    this.#value = value
  }

  readonly get = (): Value => this.#value

  set(value: Value): void {
    this.#value = value
    for (const listener of this.#listeners) listener()
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}

export function useShared<Value>(shared: SharedValue<Value>): Value {
  return useSyncExternalStore(shared.subscribe, shared.get)
}
