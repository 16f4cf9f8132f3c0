// Base64 in either alphabet, without Node: what it holds, as bytes and as one character a byte. Linear.

/** Latin-1 of what base64 holds, either alphabet; empty where it is none. */
export function decodeBase64(text: string): string {
  return latin1(decodeBase64Bytes(text))
}

/** Empty where it is none. Four letters at a time. */
export function decodeBase64Bytes(text: string): Uint8Array {
  let end = text.length
  while (end > 0 && text.charCodeAt(end - 1) === 0x3d) end--
  const bytes = new Uint8Array((end * 3) >> 2)
  const value = (at: number) => BASE64_VALUES[text.charCodeAt(at)] as number
  let length = 0
  let at = 0
  let wrong = 0
  for (; at + 4 <= end; at += 4) {
    const group = (value(at) << 18) | (value(at + 1) << 12) | (value(at + 2) << 6) | value(at + 3)
    wrong |= group
    bytes[length] = group >> 16
    bytes[length + 1] = group >> 8
    bytes[length + 2] = group
    length += 3
  }
  const left = end - at
  let group = 0
  for (let each = 0; each < left; each++) group |= value(at + each) << (18 - 6 * each)
  if (left > 1) bytes[length] = group >> 16
  if (left > 2) bytes[length + 1] = group >> 8
  return (wrong | group) < 0 ? NO_BYTES : bytes
}

const NO_BYTES = new Uint8Array(0)

/** One character a byte. */
export function latin1(bytes: Uint8Array): string {
  // Most are short, and a view of them would cost as much as the text itself.
  if (bytes.length <= CHUNK_BYTES) return Reflect.apply(String.fromCharCode, null, bytes)
  let text = ''
  for (let from = 0; from < bytes.length; from += CHUNK_BYTES)
    text += Reflect.apply(String.fromCharCode, null, bytes.subarray(from, from + CHUNK_BYTES))
  return text
}

const CHUNK_BYTES = 8_192
/** The value of each character code, -1 for other characters; `-` and `_` are `+` and `/` of the other alphabet. */
const BASE64_VALUES = new Int8Array(0x1_0000).fill(-1)
for (const [value, letter] of [
  ...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/',
].entries())
  BASE64_VALUES[letter.charCodeAt(0)] = value
BASE64_VALUES['-'.charCodeAt(0)] = 62
BASE64_VALUES['_'.charCodeAt(0)] = 63

/** Whether a character code is a letter of either alphabet. */
export function isBase64Letter(code: number): boolean {
  return (BASE64_VALUES[code] as number) >= 0
}
