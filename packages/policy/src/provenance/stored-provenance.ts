// What a session remembers of answers, as a store keeps it.
// Made and read by session-provenance.ts.

import type { HashSeed } from './hash.ts'

/** Everything that a session remembers, as it is stored. Holds words of the prompt: a secret. */
export interface StoredProvenance {
  readonly seed: HashSeed
  readonly hasPrompt: boolean
  readonly hasRead: boolean
  readonly hasProse: boolean
  readonly promptWords: readonly string[]
  readonly table: Uint32Array
  readonly prompt: Uint32Array
}
