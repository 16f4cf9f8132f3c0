// Cache of the core's answer to the event that creates an agent, by what determines it: image and config.
// Name, seed and time of an agent do not enter that answer, so the next agent with the same config is
// committed without being run; the first use runs the event, and its answer is compared with the
// committed one. Owned by the stepper.

import { LruMap } from '../../core/lru-map.ts'
import type { JournalEvent, StepResult } from '../../guest/protocol.ts'
import { KNOWN_START_LENGTH_MAX, KNOWN_STARTS_MAX } from '../shared/limits.ts'

export interface KnownStart {
  readonly step: StepResult
  readonly answer: Buffer
}

export class CreateStepCache {
  readonly #kept = new LruMap<string, KnownStart>(KNOWN_STARTS_MAX)

  get(name: string | undefined): KnownStart | undefined {
    return name === undefined ? undefined : this.#kept.get(name)
  }

  set(name: string | undefined, start: KnownStart): void {
    if (name !== undefined) this.#kept.set(name, start)
  }
}

/** Undefined where the answer may depend on more: files, an import, a time that can be over. */
export function startName(image: string, event: JournalEvent): string | undefined {
  if (event.kind !== 'create' || event.files.length > 0 || event.from !== undefined)
    return undefined
  if (event.config.limits.expiresAt !== null) return undefined
  const config = JSON.stringify(event.config)
  return config.length > KNOWN_START_LENGTH_MAX ? undefined : `${image} ${config}`
}
