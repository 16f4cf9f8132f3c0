// The parts an expression is taken apart into: the slots it reads, the edits that put them there,
// and the budget all expressions of a document share.

import type { Root } from './expression-names.ts'
import type { Macro } from './macro-cost.ts'

export interface ExpressionSlot {
  readonly name: string
  readonly root: Root
  /** Names below the root. */
  readonly path: readonly string[]
  /** `has(...)`: whether it is there. */
  readonly presence: boolean
  readonly at: number
  /** Each place that walks the value: how much a character counts, and the slot of the list
   * what repeats it, for a place inside a macro. */
  readonly uses: { readonly weight: number; readonly repeatedBy: Macro | undefined }[]
}

/** A stretch of the text and what stands there instead when it runs. */
export interface ExpressionEdit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** What all expressions of a document may take together; each takes its part. */
export interface Budget {
  patternSteps: number
}
