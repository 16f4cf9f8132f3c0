// Tells text that a person wrote from a value, by its length and by the name of its field.

import { FIELD_CHARS_MAX, FIELD_WORDS_MAX } from './limits.ts'
import { getRole } from './names.ts'

/** From so many words on a field may be a part of a sentence. */
export const PHRASE_WORDS_MIN = 4

/** How many words a field has; undefined if it is text that a person wrote. `key`: its name; empty if it has none. */
export function countFieldWords(text: string, key: string): number | undefined {
  // Faster than `includes`, and asked of every field.
  if (text.length > FIELD_CHARS_MAX || text.indexOf('\n') !== -1) return undefined
  const words = countWords(text)
  const isText = words > FIELD_WORDS_MAX || (key !== '' && getRole(key) === 'free text')
  return isText ? undefined : words
}

/** One more than there are blanks of any kind and `_`; each character of a script without blanks is a word. */
function countWords(text: string): number {
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

/** A shorter text is no sentence. */
export const SENTENCE_CHARS_MIN = 24

/** Whether an argument is too long for a name; what counts as a field of an answer is shorter. */
export function isSentence(text: string): boolean {
  return (
    text.length > SENTENCE_CHARS_MIN && (text.includes('\n') || text.split(' ', 14).length > 12)
  )
}
