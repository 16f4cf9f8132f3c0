// Checks that a text with the shape of a secret is one: checksums, headers, disorder. They keep false
// alarms rare: a word that merely begins like a token passes. Pure.

import { decodeBase64 } from '@sluice/policy/readers/base64'
import { group, sequence } from '@sluice/policy/readers/join-patterns'
import { countEach } from '@sluice/policy/structures/count-each'
import { toWords } from '@sluice/policy/structures/word-set'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** GitHub and npm end their tokens in a checksum of what is before it. */
export function hasChecksum(token: string): boolean {
  const body = token.slice(token.indexOf('_') + 1)
  const checksum = body.slice(-6)
  let sum = 0
  for (const digit of checksum) sum = sum * 62 + BASE62.indexOf(digit)
  return sum === crc32(body.slice(0, -6))
}

export function crc32(text: string): number {
  let crc = ~0
  for (let at = 0; at < text.length; at++) {
    crc ^= text.charCodeAt(at)
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (0xedb88320 & -(crc & 1))
  }
  return ~crc >>> 0
}

/** Whether the first part of what looks like a JSON Web Token says how it is signed. The run before the
 * first dot may begin with something else: every place is tried where a header can begin. */
export function hasTokenHeader(token: string): boolean {
  const run = token.slice(0, token.indexOf('.'))
  let tried = 0
  for (let at = run.indexOf('eyJ'); at >= 0; at = run.indexOf('eyJ', at + 1)) {
    // Somebody made it to be slow: it is nothing else.
    if (++tried > HEADERS_TRIED_MAX) return true
    if (/^\s*\{[\s\S]{0,1000}"alg"\s*:/.test(decodeBase64(run.slice(at, at + HEADER_CHARS_MAX))))
      return true
  }
  return false
}

const HEADERS_TRIED_MAX = 8
/** The length of a header that is read: `alg` is near its beginning. */
const HEADER_CHARS_MAX = 2_000

/** Nobody writes such a word by hand: long, of mixed letters and digits, without order. */
export function looksRandom(text: string): boolean {
  if (text.length < RANDOM_CHARS_MIN || !/^[\w.~+/=:-]+$/.test(text)) return false
  const isHex = /^[0-9a-f]+$/i.test(text)
  if (isHex) return text.length >= 32 && /\d/.test(text) && /[a-f]/i.test(text) && entropy(text) > 3
  const kinds = [/[a-z]/, /[A-Z]/, /\d/].filter((kind) => kind.test(text)).length
  return kinds === 3 && entropy(text) > 3.5 && !isOfWords(text)
}

/** Letters that nobody wrote: capitals and small ones change places as in no name, and hardly one comes twice. */
export function isJumbled(text: string): boolean {
  if (text.length < JUMBLED_CHARS_MIN || !/^[A-Za-z]+$/.test(text)) return false
  let changes = 0
  for (let at = 1; at < text.length; at++)
    if (isCapital(text, at) !== isCapital(text, at - 1)) changes++
  const different = new Set(text).size
  return (
    3 * changes >= text.length &&
    different >= Math.min(JUMBLED_DIFFERENT_MIN, 0.75 * text.length) &&
    !isOfWords(text)
  )
}

const JUMBLED_CHARS_MIN = 8
const JUMBLED_DIFFERENT_MIN = 12

function isCapital(text: string, at: number): boolean {
  return text.charCodeAt(at) < 0x61
}

/** Names in programs and paths have capitals and digits too, but most of their letters are in words. In
 * random base64 few are. */
function isOfWords(text: string): boolean {
  let inWords = 0
  for (const [word] of text.matchAll(/[A-Z][a-z]{3,}|[a-z]{4,}|[A-Z]{5,}/g))
    if (/[aeiou]/i.test(word)) inWords += word.length
  return 2 * inWords > text.replace(/[^A-Za-z]/g, '').length
}

const RANDOM_CHARS_MIN = 20

/** Bits a character. */
function entropy(text: string): number {
  let bits = 0
  for (const count of countEach(text).values())
    bits -= (count / text.length) * Math.log2(count / text.length)
  return bits
}

/** What documentation writes where a secret would be. */
export function isPlaceholder(text: string): boolean {
  return isExample(text) || /^[a-z]{1,12}$/i.test(text)
}

/** What examples and placeholders of secrets have in them, or are. */
const EXAMPLE = new RegExp(
  sequence(
    /^/,
    group([
      sequence(
        /.{0,20}/,
        group([
          ...toWords(`
            your example sample placeholder changeme redacted dummy test fake xxxx
          `),
          /\*\*\*\*/,
          /\.\.\./,
          /</,
          /\$\{/,
          /\{\{/,
          /%\w+%/,
        ]),
        /.{0,200}/,
      ),
      /(.)\1{5,}/,
      /(?:process\.env|os\.environ|env)\b.*/,
    ]),
    /$/,
  ),
  'i',
)

/** Whether a text is an example of a secret. A plain word is none, because it may be a password. */
export function isExample(text: string): boolean {
  return EXAMPLE.test(text)
}
