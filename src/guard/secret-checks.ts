// Checks that a text with the shape of a secret is one: checksums, headers, disorder. They keep false
// alarms rare: a word that merely begins like a token passes. Pure.

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** GitHub and npm end their tokens in a checksum of what is before it. */
export function hasChecksum(token: string): boolean {
  const body = token.slice(token.indexOf('_') + 1)
  const given = body.slice(-6)
  let sum = 0
  for (const digit of given) sum = sum * 62 + BASE62.indexOf(digit)
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

/** The first part of a JSON Web Token says how it is signed. */
export function isTokenHeader(token: string): boolean {
  const header = decodeBase64(token.slice(0, token.indexOf('.')))
  return /^\s*\{/.test(header) && /"alg"\s*:/.test(header)
}

/** Latin-1 of what base64 holds, either alphabet; empty where it is none. */
export function decodeBase64(text: string): string {
  let bits = 0
  let count = 0
  let decoded = ''
  for (const letter of text) {
    if (letter === '=') break
    const value = BASE64.indexOf(letter === '-' ? '+' : letter === '_' ? '/' : letter)
    if (value < 0) return ''
    bits = ((bits << 6) | value) & 0xffff
    count += 6
    if (count < 8) continue
    count -= 8
    decoded += String.fromCharCode((bits >> count) & 0xff)
  }
  return decoded
}

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** Nobody writes such a word by hand: long, of mixed letters and digits, without order. */
export function looksRandom(text: string): boolean {
  if (text.length < RANDOM_CHARS_MIN || !/^[\w.~+/=:-]+$/.test(text)) return false
  const isHex = /^[0-9a-f]+$/i.test(text)
  if (isHex) return text.length >= 32 && /\d/.test(text) && /[a-f]/i.test(text) && entropy(text) > 3
  const kinds = [/[a-z]/, /[A-Z]/, /\d/].filter((kind) => kind.test(text)).length
  return kinds === 3 && entropy(text) > 3.5 && !/[a-z]{9,}/i.test(text)
}

const RANDOM_CHARS_MIN = 20

/** Bits a character. */
function entropy(text: string): number {
  const counts = new Map<string, number>()
  for (const letter of text) counts.set(letter, (counts.get(letter) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values())
    bits -= (count / text.length) * Math.log2(count / text.length)
  return bits
}

/** What documentation writes where a secret would be. */
export function isPlaceholder(text: string): boolean {
  return /^(?:.{0,20}(?:your|example|sample|placeholder|changeme|redacted|dummy|test|fake|xxxx|\*\*\*\*|\.\.\.|<|\$\{|\{\{|%\w+%).{0,200}|(.)\1{5,}|[a-z]{1,12}|(?:process\.env|os\.environ|env)\b.*)$/i.test(
    text,
  )
}
