// Tells text that a person wrote from a value, by its length and by the name of its field.

import { FIELD_CHARS_MAX, FIELD_WORDS_MAX } from './limits.ts'
import { getRole } from './names.ts'

/** `key`: the name of the field; empty if it has none. */
export function isProse(text: string, key: string): boolean {
  // Faster than `includes`, and asked of every field.
  if (text.length > FIELD_CHARS_MAX || text.indexOf('\n') !== -1) return true
  return countWords(text) > FIELD_WORDS_MAX || (key !== '' && getRole(key) === 'free text')
}

/** From so many words on a value may be a part of a sentence. */
const PHRASE_WORDS_MIN = 4

export function isPhrase(text: string): boolean {
  return countWords(text) >= PHRASE_WORDS_MIN
}

/** One more than there are blanks of any kind and `_`; each character of a script without blanks is a word. */
export function countWords(text: string): number {
  let words = 1
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit <= BLANK || unit === UNDERSCORE || (unit > ASCII_MAX && isWordBreak(unit))) words++
  }
  return words
}

const BLANK = 0x20
const UNDERSCORE = 0x5f
const ASCII_MAX = 0x7f
/** Thai is the first of the scripts without blanks; general punctuation and all other blanks follow it. */
const WITHOUT_BLANKS = 0x0e00

function isWordBreak(unit: number): boolean {
  return unit >= WITHOUT_BLANKS || unit === 0x85 || unit === 0xa0
}
