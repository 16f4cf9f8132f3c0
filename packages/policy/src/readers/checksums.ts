// Checksums of accounts and cards, of texts without separators. Used to tell the origin of values and by
// the detectors of secrets.

/** Mod 97, in either case. */
export function isIban(compact: string): boolean {
  let rest = 0
  for (const letter of compact.slice(4) + compact.slice(0, 4)) {
    const value = Number.parseInt(letter, 36)
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97
  }
  return rest === 1
}

export function isLuhn(digits: string): boolean {
  let sum = 0
  for (let at = 0; at < digits.length; at++) {
    const digit = digits.charCodeAt(digits.length - 1 - at) - 0x30
    const weighted = at % 2 === 0 ? digit : 2 * digit
    sum += weighted > 9 ? weighted - 9 : weighted
  }
  return sum % 10 === 0
}
