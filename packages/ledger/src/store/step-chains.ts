// Chains of entries that are hashed together, one for each session of an agent of the Agent Control Standard, and the
// ids of their requests: sqlite/step-chains.ts (gate.db) and postgres/step-chains.ts (gates that share a store)
// implement it, and both pass step-chains.test.ts. A request that one gate has taken is refused by every other one.

export interface ChainedStep {
  /** Names the chain. */
  readonly chain: string
  /** Of the request, unique in its chain. */
  readonly request: string
  /** The entry without the hash of the one before it. */
  readonly content: string
}

export interface StepEntry {
  /** SHA-256 of the content followed by the previous hash, in hex. */
  readonly hash: string
  /** In hex; undefined for the first entry. */
  readonly previous: string | undefined
}

export interface StepChains {
  /** Adds an entry to its chain. Undefined if the chain has this request already: then nothing was written. */
  append(step: ChainedStep): Promise<StepEntry | undefined>
}
