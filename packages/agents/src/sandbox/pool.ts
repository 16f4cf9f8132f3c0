// A pool of instances for the next guest. Creating one takes longer than cleaning one. A dead one
// is never reused, and memory cannot shrink, so a guest gets one of its own size or a smaller one.
// Owned by a thread.

import { readMemoryBytes } from './delta.ts'
import type { Image } from './image.ts'
import { Instance } from './instance.ts'
import { POOL_INSTANCE_BYTES_MAX, POOL_INSTANCES_MAX } from './limits.ts'

export class InstancePool {
  readonly #image: Image
  readonly #free: Instance[] = []

  constructor(image: Image) {
    this.#image = image
  }

  /** An instance with the guest of the delta, or a new guest. */
  take(delta?: Buffer): Instance {
    const wanted = delta === undefined ? this.#image.base.length : readMemoryBytes(delta)
    const instance = this.#fitting(wanted) ?? new Instance(this.#image)
    instance.load(delta)
    return instance
  }

  give(instance: Instance): void {
    if (instance.isDead || instance.memoryBytes > POOL_INSTANCE_BYTES_MAX) return
    this.#free.push(instance)
    if (this.#free.length > POOL_INSTANCES_MAX) this.#free.shift()
  }

  /** Cleans the one that a new guest would get, so that it need not wait for that. */
  tidy(): void {
    const { length } = this.#image.base
    const next = this.#free.findLast(({ memoryBytes }) => memoryBytes === length)
    next?.load()
    next?.tidy()
  }

  /** The last one returned of exactly this size, or else the largest that can grow to it. */
  #fitting(wanted: number): Instance | undefined {
    let index = -1
    let size = -1
    for (const [at, { memoryBytes }] of this.#free.entries()) {
      if (memoryBytes > wanted || memoryBytes < size) continue
      index = at
      size = memoryBytes
    }
    return index < 0 ? undefined : this.#free.splice(index, 1)[0]
  }
}
