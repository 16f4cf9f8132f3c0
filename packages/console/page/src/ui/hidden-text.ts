// Text of a server may contain characters that are invisible to people and read by a model. Splits
// a text into visible segments and characters to show as marks, by the gate's own table.

import { HIDDEN_CLASS } from '@sluice/guard/show/hidden-characters'

/** Also line separators. Without variation selectors that belong to an emoji or a symbol. */
const CLASS = `(?!(?<=[\\p{S}#*0-9])[\\ufe0e\\ufe0f])[${HIDDEN_CLASS}\\u2028\\u2029]`
/** Two of them: a global one keeps its position between two texts. */
const ANY = new RegExp(CLASS, 'u')
const ALL = new RegExp(CLASS, 'gu')

const NAMES: Readonly<Record<number, string>> = {
  0: 'NUL',
  7: 'BEL',
  8: 'BS',
  27: 'ESC',
  127: 'DEL',
  173: 'SHY',
  8203: 'ZWSP',
  8204: 'ZWNJ',
  8205: 'ZWJ',
  8206: 'LRM',
  8207: 'RLM',
  8234: 'LRE',
  8235: 'RLE',
  8236: 'PDF',
  8237: 'LRO',
  8238: 'RLO',
  8288: 'WJ',
  8294: 'LRI',
  8295: 'RLI',
  8296: 'FSI',
  8297: 'PDI',
  65279: 'BOM',
}

export type TextSegment =
  | { readonly text: string }
  | { readonly hidden: string; readonly code: string }

export function splitHiddenText(text: string): TextSegment[] {
  const segments: TextSegment[] = []
  let done = 0
  for (const match of text.matchAll(ALL)) {
    if (match.index > done) segments.push({ text: text.slice(done, match.index) })
    const code = match[0].codePointAt(0) as number
    segments.push({ hidden: describeCharacter(code), code: formatCode(code) })
    done = match.index + match[0].length
  }
  if (done < text.length) segments.push({ text: text.slice(done) })
  return segments
}

export function hasHidden(text: string): boolean {
  return ANY.test(text)
}

/** Tag characters encode ASCII: the letter is what the model reads. */
function describeCharacter(code: number): string {
  if (code > 0xe0020 && code < 0xe007f) return `tag ${String.fromCodePoint(code - 0xe0000)}`
  return NAMES[code] ?? formatCode(code)
}

function formatCode(code: number): string {
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
}
