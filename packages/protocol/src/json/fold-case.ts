// Case folding of keys, with a cost budget per text. NFKC expands one character to up to 18 and
// sorts runs of combining marks in quadratic time, so a key is charged to a budget before it is
// folded. Pure; the JSON reader charges every key it creates, known-keys.ts those that a server
// declares.

import {
  COMBINING_MARKS_MAX,
  FOLD_MEMO_KEYS_MAX,
  FOLD_MEMO_LENGTH_MAX,
  FOLD_UNITS_MAX,
  FOLD_UNITS_PER_KEY,
  FOLDED_KEY_LENGTH_MAX,
} from './limits.ts'

const BEYOND_ASCII = /[^\0-\x7f]/
const MARKS = new RegExp(`\\p{M}{${COMBINING_MARKS_MAX + 1}}`, 'u')

/** Rows of a table repeat their keys: each is folded once. */
const memo = new Map<string, string>()

/**
 * Equal for keys that any peer might consider equal except for case: by simple folding (Go treats
 * `ſ` as `s` and the Kelvin sign as `k`), by full folding, with the Turkish i's, and in full width.
 * A key beyond the budget is not normalized: callers that compare such keys have to refuse them.
 */
export function foldCase(key: string): string {
  if (!BEYOND_ASCII.test(key)) return key.toLowerCase()
  const before = memo.get(key)
  if (before !== undefined) return before
  if (findFault(key) !== undefined) return key
  const plain = key.normalize('NFKC').replaceAll('İ', 'i')
  const folded = plain.toLowerCase().toUpperCase().toLowerCase().normalize('NFKC')
  if (key.length > FOLD_MEMO_LENGTH_MAX) return folded
  if (memo.size >= FOLD_MEMO_KEYS_MAX) memo.clear()
  memo.set(key, folded)
  return folded
}

/** Cost of folding the keys of one text. ASCII keys are free. */
export class FoldBudget {
  #left = FOLD_UNITS_MAX
  #charged: Set<string> | undefined

  /** Why the key must not be folded; undefined if it may be. */
  charge(key: string): string | undefined {
    if (!BEYOND_ASCII.test(key) || this.#charged?.has(key) === true) return undefined
    const fault = findFault(key)
    if (fault !== undefined) return fault
    this.#left -= FOLD_UNITS_PER_KEY + key.length
    // The normalized length is charged too, once the key is known to be short.
    if (this.#left >= 0) this.#left -= key.normalize('NFKC').length
    if (this.#left < 0)
      return `keys beyond ASCII that cost more than ${FOLD_UNITS_MAX} units to compare`
    if (key.length <= FOLD_MEMO_LENGTH_MAX) {
      this.#charged ??= new Set()
      this.#charged.add(key)
    }
    return undefined
  }
}

function findFault(key: string): string | undefined {
  if (key.length > FOLDED_KEY_LENGTH_MAX)
    return `a key beyond ASCII of ${key.length} characters, at most ${FOLDED_KEY_LENGTH_MAX} are read`
  if (MARKS.test(key)) return `a key with more than ${COMBINING_MARKS_MAX} combining marks in a row`
  return undefined
}
