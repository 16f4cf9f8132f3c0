// Named fields of the answers that a session received, as `last(...)` reads them. Only fields that a rule
// names are remembered, each with the arguments of the call that brought it.

import type { ExactNumber } from '../values/json.ts'

export type AnswerScalar = number | boolean | string | null | ExactNumber

/** One field of the answers of one tool. */
export interface AnswerField {
  /** `server/tool`. */
  readonly tool: string
  /** The arguments of the earlier call, all of them, sorted by name. */
  readonly by: readonly string[]
  /** Names from the outermost object of the answer to the field. */
  readonly field: readonly string[]
  /** In one spelling, `last("shop/get_order", "id", args.order).total`: the name of the value in records. */
  readonly text: string
}

/**
 * What is known of a field. `never`: the session has made no such call. `unknown`: it was forgotten, or the
 * last answer is an error, has no such field, or has something else than one plain value there.
 */
export type AnswerFinding = { readonly value: AnswerScalar } | 'never' | 'unknown'

/** What a session remembers of answers. */
export interface AnswerValues {
  /** `key` is made by `toAnswerKey` from the arguments in the order of `by`; undefined if one is no plain value. */
  find(read: AnswerField, key: string | undefined, wallMs: number): AnswerFinding
}
