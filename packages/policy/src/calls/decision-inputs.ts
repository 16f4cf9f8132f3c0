// The recorded inputs of a decision: the arguments that expressions, amounts and counter keys read,
// by path. The policy engine selects them, the ledger stores them, `replay` decides with them.

import type { ExactNumber } from '../values/json.ts'

/**
 * Why a value is absent. `missing`: the argument was not sent; `parentless`: neither was the object
 * that contains it; `withheld`: it was sent and is not recorded. Of a field of an earlier answer, `missing`: the session
 * has not made that call; `parentless`: the field is not known.
 */
export interface OmittedInput {
  readonly is: 'missing' | 'parentless' | 'withheld'
}

export type DecisionInput = number | boolean | string | null | ExactNumber | OmittedInput

/** The values that a decision has read, by path such as `args.amount`. */
export type DecisionInputs = Readonly<Record<string, DecisionInput>>

export function isOmittedInput(value: DecisionInput): value is OmittedInput {
  return typeof value === 'object' && value !== null && 'is' in value
}
