// Digits of JSON numbers by their character codes, and whole numbers made of them. Pure; used by the
// readers of this module.

export const ZERO = 0x30
export const NINE = 0x39
export const MINUS = 0x2d

export function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE
}

/** Digits only, with or without a sign, and few enough that every step is exact. */
export function wholeNumber(text: string, start: number, end: number): number {
  if (text.charCodeAt(start) === MINUS) return -wholeNumber(text, start + 1, end)
  let value = 0
  for (let at = start; at < end; at++) value = value * 10 + (text.charCodeAt(at) - ZERO)
  return value
}
