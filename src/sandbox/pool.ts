// Instances that are ready for the next guest. Making one takes longer than cleaning one; one whose
// memory has grown, or that died, is never used again. Owned by a thread.

import type { Image } from './image.ts'
import { Instance } from './instance.ts'
import { POOL_INSTANCES_MAX } from './limits.ts'

export class Pool {
  readonly #image: Image
  readonly #free: Instance[] = []

  constructor(image: Image) {
    this.#image = image
  }

  /** An instance that holds the guest of the delta, or a new guest. */
  take(delta?: Buffer): Instance {
    const instance = this.#free.pop() ?? new Instance(this.#image)
    instance.load(delta)
    return instance
  }

  give(instance: Instance): void {
    const grown = instance.memoryBytes > this.#image.base.length
    if (instance.isDead || grown || this.#free.length >= POOL_INSTANCES_MAX) return
    this.#free.push(instance)
  }
}
