// The calls that a session made before, newest last, as conditions over its past see them. Bounded:
// what was dropped makes a condition undecidable if it could matter.

export interface PastCall {
  readonly server: string
  readonly name: string
  /** When it was made, on the clock of `Instant.monotonicMs`. */
  readonly atMs: number
}

export interface PastCalls {
  readonly calls: readonly PastCall[]
  /** There were calls before these. */
  readonly hasMore: boolean
}
