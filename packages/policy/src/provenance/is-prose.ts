// Tells text that a person wrote from a value, by its length and by the name of its field.

import { FIELD_CHARS_MAX, FIELD_WORDS_MAX } from './limits.ts'
import { getRole } from './names.ts'

/** `key`: the name of the field; empty if it has none. */
export function isProse(text: string, key: string): boolean {
  if (text.length > FIELD_CHARS_MAX || text.includes('\n')) return true
  if (key !== '' && getRole(key) === 'free text') return true
  return countBlanks(text) >= FIELD_WORDS_MAX
}

/** From so many blanks on a value may be a part of a sentence. */
const PHRASE_BLANKS_MIN = 3

export function isPhrase(text: string): boolean {
  return countBlanks(text) >= PHRASE_BLANKS_MIN
}

export function countBlanks(text: string): number {
  let blanks = 0
  for (let at = text.indexOf(' '); at !== -1; at = text.indexOf(' ', at + 1)) blanks++
  return blanks
}
