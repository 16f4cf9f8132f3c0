// Checksums of accounts and cards, of texts without separators and in lower case.

export function isIban(compact: string): boolean {
  let rest = 0
  for (const unit of compact.slice(4) + compact.slice(0, 4))
    for (const digit of String(Number.parseInt(unit, 36))) rest = (rest * 10 + Number(digit)) % 97
  return rest === 1
}

export function isLuhn(digits: string): boolean {
  let sum = 0
  for (let at = 0; at < digits.length; at++) {
    const digit = Number(digits[digits.length - 1 - at]) * (at % 2 === 0 ? 1 : 2)
    sum += digit > 9 ? digit - 9 : digit
  }
  return sum % 10 === 0
}
