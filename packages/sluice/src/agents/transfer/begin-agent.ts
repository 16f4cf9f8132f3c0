// Runs the first event of an agent that was imported, in the transfer thread: of a large one it takes longer
// than another owner's agent should wait. The step thread only stores what it led to.

import { type Image, openImage } from '../../sandbox/image.ts'
import { InstancePool } from '../../sandbox/pool.ts'
import { packMemory } from '../journal/checkpoint-store.ts'
import { LIMITS } from '../steps/residents.ts'
import type { BegunAgent } from '../steps/stepper.ts'

export interface FirstEvent {
  readonly text: string
  readonly bytes: Uint8Array | undefined
  readonly atMs: number
}

export class AgentBeginner {
  readonly #core: Uint8Array<ArrayBuffer>
  #pool: InstancePool | undefined

  /** `core`: the image of this version. */
  constructor(core: Uint8Array<ArrayBuffer>) {
    this.#core = core
  }

  begin({ text, bytes, atMs }: FirstEvent): BegunAgent {
    this.#pool ??= new InstancePool(this.image)
    const instance = this.#pool.take()
    const { text: answer } = instance.call({ operation: 'step', text, bytes, nowMs: atMs }, LIMITS)
    const memory = packMemory(instance.save())
    this.#pool.give(instance)
    return { answer, memory }
  }

  get image(): Image {
    return openImage(this.#core)
  }
}
