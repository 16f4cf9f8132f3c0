// The parts of an expression: the variables it reads, the edits that insert them, and the budget shared
// by all expressions of a document.

import type { Root } from './expression-names.ts'
import type { Macro } from './macro-cost.ts'
import type { LastRead } from './read-last.ts'

export interface ExpressionVariable {
  readonly name: string
  readonly root: Root
  /** Names below the root. */
  readonly path: readonly string[]
  /** `has(...)`: whether it exists. */
  readonly presence: boolean
  /** What `last(...)` reads: then `path` is the tool and the field. */
  readonly last?: LastRead
  readonly at: number
  /**
   * Each use that walks the value: the weight of a character and, inside a macro, the variable of the
   * list that repeats it. None for `has(...)`, and for an argument by which `last(...)` is found.
   */
  readonly uses: { readonly weight: number; readonly repeatedBy: Macro | undefined }[]
}

/** A tool or glob that a function over the session's past names. */
export interface NamedTool {
  readonly value: string
  /** Where it is written in the text. */
  readonly at: number
}

/** A range of the text and what replaces it when it runs. */
export interface ExpressionEdit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** What all expressions of a document may cost together; each deducts its part. */
export interface Budget {
  patternSteps: number
}
