// What a call's verdict was reached from, as far as it is kept: the arguments that expressions,
// amounts and keys read, by path. The policy engine says which, the ledger keeps them, `replay`
// judges by them.

import type { ExactNumber } from './json.ts'

/** Why there is no value. `missing`: the argument was not there; `parentless`: neither was the object
 * it would stand in; `withheld`: it was there, and is not kept. */
export interface NotKept {
  readonly is: 'missing' | 'parentless' | 'withheld'
}

export type JudgedValue = number | boolean | string | null | ExactNumber | NotKept

/** By path such as `args.amount`. */
export type Judged = Readonly<Record<string, JudgedValue>>

export function isNotKept(value: JudgedValue): value is NotKept {
  return typeof value === 'object' && value !== null && 'is' in value
}
