// The one table of characters that a reader does not see and a model does. The guard finds them in
// foreign text, readings are made without them, all output for people writes them as code points, and
// the console shows them as marks. Pure; also in the console's page.

interface HiddenRange {
  readonly from: number
  readonly to: number
  /** Controls and annotations have an effect of their own; selectors follow what is visible. */
  readonly kind: 'control' | 'selector' | 'no width'
}

const HIDDEN_RANGES: readonly HiddenRange[] = [
  // All but tab, line feed and carriage return: the bell, backspace and ANSI escape among them.
  { from: 0x0, to: 0x8, kind: 'control' },
  { from: 0xb, to: 0xc, kind: 'control' },
  { from: 0xe, to: 0x1f, kind: 'control' },
  // Delete and the C1 controls, which begin ANSI sequences too.
  { from: 0x7f, to: 0x9f, kind: 'control' },
  // Soft hyphen, grapheme joiner, Arabic letter mark.
  { from: 0xad, to: 0xad, kind: 'no width' },
  { from: 0x34f, to: 0x34f, kind: 'no width' },
  { from: 0x61c, to: 0x61c, kind: 'no width' },
  // Fillers of Hangul, inherent vowels of Khmer, selectors of Mongolian.
  { from: 0x115f, to: 0x1160, kind: 'no width' },
  { from: 0x17b4, to: 0x17b5, kind: 'no width' },
  { from: 0x180b, to: 0x180f, kind: 'no width' },
  // Zero-width space, joiners, marks of direction; bidi embedding and override.
  { from: 0x200b, to: 0x200f, kind: 'no width' },
  { from: 0x202a, to: 0x202e, kind: 'no width' },
  // Word joiner, invisible operators, bidi isolates.
  { from: 0x2060, to: 0x206f, kind: 'no width' },
  { from: 0x3164, to: 0x3164, kind: 'no width' },
  { from: 0xfe00, to: 0xfe0f, kind: 'selector' },
  // Byte order mark, halfwidth Hangul filler, interlinear annotation.
  { from: 0xfeff, to: 0xfeff, kind: 'no width' },
  { from: 0xffa0, to: 0xffa0, kind: 'no width' },
  { from: 0xfff9, to: 0xfffb, kind: 'control' },
  // Musical controls; tag characters and further selectors.
  { from: 0x1d173, to: 0x1d17a, kind: 'control' },
  { from: 0xe0000, to: 0xe0fff, kind: 'selector' },
]

function toClass(ranges: readonly HiddenRange[]): string {
  return ranges.map(({ from, to }) => `\\u{${from.toString(16)}}-\\u{${to.toString(16)}}`).join('')
}

/** All of them, for between the brackets of a pattern with the flag `u`. */
export const HIDDEN_CLASS = toClass(HIDDEN_RANGES)

/** The characters that can stand unseen between two letters of a word. It needs no flag `u`. */
export const NO_WIDTH_CLASS = HIDDEN_RANGES.filter(({ kind }) => kind === 'no width')
  .map(({ from, to }) => `${escapeUnit(from)}-${escapeUnit(to)}`)
  .join('')

/** The characters that output shows as codes: the hidden ones, format characters that have a shape, separators of
 * lines, halves of a pair, and the blank of Braille, which looks like a space. */
export const SHOWN_AS_CODE_CLASS = `${HIDDEN_CLASS}\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}\\p{Cs}\\u2800`

function escapeUnit(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`
}
