// Other readings of a text: what it says once somebody has undone its escapes. The finders of secrets,
// of orders and of the gate's own tokens look at each of them, so that an encoding hides nothing.
// Linear, under a budget. Pure.

import { decodePercent } from '@sluice/policy/readers/percent'
import { DECODED_CHARS_MAX } from './limits.ts'
import { NO_WIDTH_CLASS } from './show/hidden-characters.ts'

/** Characters that may still be decoded, of all texts of one message. */
export interface ViewBudget {
  charsLeft: number
}

export function newViewBudget(): ViewBudget {
  return { charsLeft: DECODED_CHARS_MAX }
}

/** Undoes one way to write a character; the text itself where it is not used. */
type TextTransform = (text: string) => string

const UNDOS: readonly TextTransform[] = [
  undoControls,
  undoBackslash,
  undoEntities,
  decodePercent,
  undoQuotedPrintable,
]
/** An escape inside of an escape: as often as this. */
const ROUNDS_MAX = 3
const ESC = String.fromCharCode(0x1b)
/** NUL, and what has no width. */
const UNSEEN = `\\0${NO_WIDTH_CLASS}`
const MAYBE_ESCAPED = new RegExp(`[\\\\&%=${ESC}${UNSEEN}]`)
const CONTROLS = new RegExp(`[${UNSEEN}]|${ESC}\\[[0-9;:?]{0,32}[@-~]`, 'g')

/** `text`, and what it says once its escapes are undone, alone and one inside of the other; undefined
 * in the place of what the budget does not allow. */
export function readingsOf(text: string, budget: ViewBudget): (string | undefined)[] {
  const readings: (string | undefined)[] = [text]
  if (!MAYBE_ESCAPED.test(text)) return readings
  let plain = text
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const before = plain
    for (const undo of UNDOS) {
      const undone = undo(plain)
      if (undone !== plain) budget.charsLeft -= plain.length
      if (budget.charsLeft < 0) return [...readings, undefined]
      // `q=%34%31` says `q=41`, and only mail would read that on as `qA`.
      if (undo === undoQuotedPrintable && undone !== plain && plain !== before) readings.push(plain)
      plain = undone
    }
    if (plain === before) return readings
    readings.push(plain)
  }
  return readings
}

/** Characters of a text by which an escape may begin: undoing one takes longer than searching a character. */
export function countEscapes(text: string): number {
  escapeUnits ??= Uint8Array.from({ length: 0x1_0000 }, (_, unit) =>
    Number(MAYBE_ESCAPED.test(String.fromCharCode(unit))),
  )
  let count = 0
  for (let at = 0; at < text.length; at++) count += escapeUnits[text.charCodeAt(at)] as number
  return count
}

let escapeUnits: Uint8Array | undefined

/** NUL between letters, as UTF-16 has it, the colours of a terminal, and what has no width. */
function undoControls(text: string): string {
  return text.replace(CONTROLS, '')
}

/** `\\u005f`, `\\x5f`, `\\137`, `\\n`, `\\u{5f}`, and a backslash before a line break, as programs write them. */
function undoBackslash(text: string): string {
  if (!text.includes('\\')) return text
  // Without a function if there is nothing to decode: texts of programs are full of these.
  const bare = text
    .replace(/\\(?:\r?\n|([\\/"'_.:-]))/g, '$1')
    .replaceAll('\\n', '\n')
    .replaceAll('\\r', '\r')
  if (!/\\[uxe0-3]/.test(bare)) return bare
  return bare.replace(
    /\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|u\{0{0,4}([0-9a-fA-F]{1,6})\}|([0-3][0-7]{2})|e(?=\[))/g,
    (_all, unit?: string, byte?: string, point?: string, octal?: string) => {
      if (octal !== undefined) return character(Number.parseInt(octal, 8))
      const digits = unit ?? byte ?? point
      return digits === undefined ? '\x1b' : character(Number.parseInt(digits, 16))
    },
  )
}

const NAMED: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
  ['lowbar', '_'],
  ['UnderBar', '_'],
  ['nbsp', ' '],
  ['colon', ':'],
  ['sol', '/'],
  ['hyphen', '-'],
  ['dash', '-'],
  ['period', '.'],
  ['equals', '='],
  ['shy', ''],
  ['Tab', '\t'],
  ['NewLine', '\n'],
  ['plus', '+'],
  ['num', '#'],
  ['percnt', '%'],
  ['bsol', '\\'],
  ['commat', '@'],
])

/** `&#95;`, `&#x5f;`, `&lowbar;`. */
export function undoEntities(text: string): string {
  if (!text.includes('&')) return text
  return text.replace(
    /&(?:#0{0,8}(\d{1,7})|#[xX]0{0,8}([0-9a-fA-F]{1,6})|([A-Za-z]{2,8}));?/g,
    (all, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) return NAMED.get(name) ?? all
      return character(Number.parseInt(decimal ?? (hex as string), decimal === undefined ? 16 : 10))
    },
  )
}

/** `=5F`, and lines that end in `=`, as mail has them. */
function undoQuotedPrintable(text: string): string {
  if (!text.includes('=')) return text
  return text.replace(/=(?:([0-9A-Fa-f]{2})|[ \t]{0,4}\r?\n)/g, (_all, hex?: string) =>
    hex === undefined ? '' : character(Number.parseInt(hex, 16)),
  )
}

function character(point: number): string {
  return point <= 0x10ffff ? String.fromCodePoint(point) : ''
}
