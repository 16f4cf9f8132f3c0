// Case folding of keys, and what of it one text may cost. NFKC makes 18 characters of one and sorts
// runs of combining marks in quadratic time, so that a key is charged to a budget before it is folded.
// Pure; the JSON reader charges every key that it makes, known-keys.ts those that a server declares.

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

/** Equal for keys that any peer might call equal but for case: by simple folding (Go takes `ſ` for
 * `s` and the Kelvin sign for `k`), by full folding, with the Turkish i's, and in full width. A key
 * that no budget takes is not normalized: whoever compares such keys has to refuse them. */
export function foldCase(key: string): string {
  if (!BEYOND_ASCII.test(key)) return key.toLowerCase()
  const before = memo.get(key)
  if (before !== undefined) return before
  if (faultOf(key) !== undefined) return key
  const plain = key.normalize('NFKC').replaceAll('İ', 'i')
  const folded = plain.toLowerCase().toUpperCase().toLowerCase().normalize('NFKC')
  if (key.length > FOLD_MEMO_LENGTH_MAX) return folded
  if (memo.size >= FOLD_MEMO_KEYS_MAX) memo.clear()
  memo.set(key, folded)
  return folded
}

/** What the keys of one text cost to fold. ASCII keys are free. */
export class FoldBudget {
  #left = FOLD_UNITS_MAX
  #charged: Set<string> | undefined

  /** Why the key must not be folded; undefined if it may be. */
  charge(key: string): string | undefined {
    if (!BEYOND_ASCII.test(key) || this.#charged?.has(key) === true) return undefined
    const fault = faultOf(key)
    if (fault !== undefined) return fault
    this.#left -= FOLD_UNITS_PER_KEY + key.length
    // What it becomes is counted too, once its length is known to be small.
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

function faultOf(key: string): string | undefined {
  if (key.length > FOLDED_KEY_LENGTH_MAX)
    return `a key beyond ASCII of ${key.length} characters, at most ${FOLDED_KEY_LENGTH_MAX} are read`
  if (MARKS.test(key)) return `a key with more than ${COMBINING_MARKS_MAX} combining marks in a row`
  return undefined
}
