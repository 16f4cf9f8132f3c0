// The characters that a regular expression tells apart: a sample of all characters, grouped by which of its
// parts match them. Node decides what matches, so that classes, properties and case need no second implementation.

/** ASCII, and beyond it letters, marks, digits, spaces, invisible characters, signs and halves of pairs. */
const SAMPLE: readonly string[] = [
  ...Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)),
  ...'\x80\x85\x9b\xa0\xad\xb2\xb5\xdf\xe4\xc4\u0130\u0131\u017f\u0301\u0345\u034f\u03b1\u03c2\u0430\u0410',
  ...'\u05d0\u0628\u061c\u0660\u0915\u094d\u0e01\u1100\u1680\u180e\u2009\u200b\u200d\u200e\u2019\u201c\u2028',
  ...'\u202e\u20ac\u2060\u2066\u212a\u2190\u2460\u2800\u3000\u3042\u30a2\u3164\u4e00\uac00\ue000\ufe0f\ufeff',
  ...'\uff21\uff41\uff9e\ufff9\uffff',
]
const ASTRAL = [
  '\u{10400}',
  '\u{1d400}',
  '\u{1f3f4}',
  '\u{1f600}',
  '\u{e0041}',
  '\u{e0100}',
  '\u{f0000}',
]
const HALVES = ['\ud83d', '\udc41']

export interface Letter {
  /** A character of the group. */
  readonly sample: string
  readonly matches: ReadonlySet<string>
  readonly isWord: boolean
  readonly isLineEnd: boolean
}

/** One letter for each group of characters that `parts`, sources that match one character each, tell apart. */
export function lettersOf(parts: Iterable<string>, source: string, flags: string): Letter[] {
  const isUnicode = flags.includes('u')
  const own = [...source].flatMap((char) => nearby(char.codePointAt(0) ?? 0))
  const escaped = [...source.matchAll(/\\(?:x|u\{?)([0-9a-fA-F]{2,6})/g)].flatMap(([, hex]) =>
    nearby(Number.parseInt(hex ?? '', 16)),
  )
  const sample = new Set([...SAMPLE, ...HALVES, ...own, ...escaped, ...(isUnicode ? ASTRAL : [])])
  const tests = [...new Set(parts)].map((part) => ({
    part,
    pattern: new RegExp(`^(?:${part})$`, flags.replace(/[gmyd]/g, '')),
  }))
  const groups = new Map<string, Letter>()
  for (const char of sample) {
    if (!isUnicode && char.length > 1) continue
    const matches = tests.filter(({ pattern }) => pattern.test(char)).map(({ part }) => part)
    const isWord = /\w/.test(char)
    const isLineEnd = /[\n\r\u2028\u2029]/.test(char)
    const key = JSON.stringify([matches, isWord, isLineEnd])
    if (!groups.has(key))
      groups.set(key, { sample: char, matches: new Set(matches), isWord, isLineEnd })
  }
  return [...groups.values()]
}

function nearby(code: number): string[] {
  return [code - 1, code, code + 1]
    .filter((near) => near >= 0 && near <= 0x10ffff)
    .map((near) => String.fromCodePoint(near))
}
