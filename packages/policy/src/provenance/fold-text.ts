// Folds text so that spellings of one value compare equal: NFKC, lower case, no invisible
// characters. Linear: a run of combining marks, which NFKC sorts in quadratic time, is cut.

const PLAIN = /^[\t\n\r -~]*$/
const LONG_MARKS = /(\p{M}{8})\p{M}+/gu
/** A dot in a host name, for everything that resolves names. */
const IDEOGRAPHIC_STOP = '\u3002'
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu

/** Whether a text is printable ASCII: then folding only writes it in lower case. */
export function isPlainAscii(text: string): boolean {
  return PLAIN.test(text)
}

export function foldText(text: string): string {
  if (isPlainAscii(text)) return text.toLowerCase()
  const plain = text.replace(LONG_MARKS, '$1').normalize('NFKC').replace(INVISIBLE, '')
  return plain.replaceAll(IDEOGRAPHIC_STOP, '.').toLowerCase()
}

/** 1 for the letters and digits of ASCII. */
const ASCII_WORD = new Uint8Array(128)
for (const [first, last] of ['09', 'az', 'AZ'])
  ASCII_WORD.fill(1, (first as string).charCodeAt(0), (last as string).charCodeAt(0) + 1)

/** Letters, digits and everything beyond ASCII that is neither blank nor punctuation. */
export function isWordUnit(unit: number): boolean {
  if (unit < 0x80) return ASCII_WORD[unit] === 1
  if (unit === 0xa0 || unit === 0x85 || unit === 0xab || unit === 0xbb) return false
  if (unit >= 0x2000 && unit <= 0x206f) return false
  return !(unit >= 0x3000 && unit <= 0x303f)
}

/** Continues a word that does not stand alone. */
export function isWithinWord(unit: number): boolean {
  if (unit < 0x80) return ASCII_WORD[unit] === 1
  return isWordUnit(unit) && !isIdeograph(unit)
}

/** Scripts that are written without blanks: each character is a word. */
export function isIdeograph(unit: number): boolean {
  return (unit >= 0x3040 && unit <= 0x9fff) || (unit >= 0xac00 && unit <= 0xd7a3)
}
