// Tells text that a person wrote from a value, by its length and by the name of its field.

import { FIELD_CHARS_MAX, FIELD_WORDS_MAX } from './limits.ts'
import { getRole } from './names.ts'

/** `key`: the name of the field; empty if it has none. */
export function isProse(text: string, key: string, blanks = countBlanks(text)): boolean {
  // Faster than `includes`, and asked of every field.
  if (text.length > FIELD_CHARS_MAX || text.indexOf('\n') !== -1) return true
  return blanks >= FIELD_WORDS_MAX || (key !== '' && getRole(key) === 'free text')
}

/** From so many blanks on a value may be a part of a sentence. */
const PHRASE_BLANKS_MIN = 3

export function isPhrase(text: string, blanks = countBlanks(text)): boolean {
  return blanks >= PHRASE_BLANKS_MIN
}

export function countBlanks(text: string): number {
  let blanks = 0
  for (let at = text.indexOf(' '); at !== -1; at = text.indexOf(' ', at + 1)) blanks++
  return blanks
}
