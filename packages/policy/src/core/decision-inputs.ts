// What a call's verdict was reached from, as far as it is kept: the arguments that expressions,
// amounts and keys read, by path. The policy engine says which, the ledger keeps them, `replay`
// judges by them.

import type { ExactNumber } from './json.ts'

/** Why there is no value. `missing`: the argument was not there; `parentless`: neither was the object
 * it would stand in; `withheld`: it was there, and is not kept. */
export interface OmittedInput {
  readonly is: 'missing' | 'parentless' | 'withheld'
}

export type DecisionInput = number | boolean | string | null | ExactNumber | OmittedInput

/** By path such as `args.amount`. */
export type DecisionInputs = Readonly<Record<string, DecisionInput>>

export function isOmittedInput(value: DecisionInput): value is OmittedInput {
  return typeof value === 'object' && value !== null && 'is' in value
}
