// What a session remembers of answers, as a store keeps it: fingerprints, no text.
// Made and read by session-provenance.ts.

import type { HashSeed } from './hash.ts'

/**
 * What one gate adds to what a session remembers. Other gates of a cluster merge it into theirs, in any order and any
 * number of times.
 */
export interface ProvenanceAddition {
  readonly hasPrompt: boolean
  readonly hasRead: boolean
  readonly hasProse: boolean
  /** The tool of the last answer in it, as `server/name`; undefined if that is not known. */
  readonly tool?: string | undefined
  /** The words of the `HashTable` of answers. */
  readonly table: Uint32Array
  /** The words of the `HashTable` of prompts. */
  readonly prompt: Uint32Array
}

/** Everything that a session remembers, as it is stored. */
export interface StoredProvenance extends ProvenanceAddition {
  /** The secret of its hashes. */
  readonly seed: HashSeed
}
