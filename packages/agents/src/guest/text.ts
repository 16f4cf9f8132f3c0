// Texts and their size in UTF-8, and how they are cut. The engine has no TextEncoder; a loop over
// every character would be what a step spends its time on, so plain ASCII is found natively.

const BEYOND_ASCII = /[^\0-\x7f]/
const HALF = /\p{Surrogate}/u
const HALVES = /\p{Surrogate}/gu

export function utf8Bytes(text: string): number {
  if (!BEYOND_ASCII.test(text)) return text.length
  let bytes = 0
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code < 0x80) bytes += 1
    else if (code < 0x800) bytes += 2
    else if (code >= 0xd800 && code <= 0xdbff) {
      bytes += 4
      at += 1
    } else bytes += 3
  }
  return bytes
}

/** At most so many characters, and how many were left off where some were. */
export function truncate(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text
  const kept = text.slice(0, lengthMax).replace(/[\ud800-\udbff]$/, '')
  return `${kept}\n[${text.length - kept.length} characters left off]`
}

/** Half characters as U+FFFD: they have no bytes, and no two encoders agree on them. */
export function wellFormed(text: string): string {
  return HALF.test(text) ? text.replace(HALVES, '\ufffd') : text
}
