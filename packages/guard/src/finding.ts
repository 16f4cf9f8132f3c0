// One thing the guard found in a text: what kind, where, the words, and how bad it is. Made by the
// detectors of this module, shown by their callers.

/**
 * `refuse`: may not pass. `hold`: until a person has looked. `flag`: shown, and passes.
 *
 * @example
 * ```ts
 * const severity: FindingSeverity = 'hold'
 * ```
 */
export type FindingSeverity = 'refuse' | 'hold' | 'flag'

/**
 * What was found.
 *
 * @example
 * ```ts
 * const kind: FindingKind = 'hidden text'
 * ```
 */
export type FindingKind =
  | 'hidden text'
  | 'instructs the model'
  | 'secret path'
  | 'hides from the user'
  | 'asks for context'
  | 'carries secrets out'
  | 'puts itself first'
  | 'too large to look at'

/**
 * One thing that was found in a text.
 *
 * @example
 * ```ts
 * const [finding] = inspectDefinition(definition).findings
 * ```
 */
export interface Finding {
  readonly kind: FindingKind
  readonly severity: FindingSeverity
  readonly start: number
  readonly end: number
  /** The words as they stand; for hidden text the code points. */
  readonly text: string
}
