// Characters a reader does not see and a model does (A04): bidi controls, tag characters, ANSI,
// zero-width space, word joiner and their kin. Joiners and variation selectors are fine where emoji
// and the scripts that need them have them; elsewhere they hide something. Pure.

import { toWords } from '@sluice/policy/structures/word-set'
import type { Finding } from './finding.ts'
import { FINDINGS_MAX } from './limits.ts'
import { HIDDEN_CLASS } from './show/hidden-characters.ts'

/** Runs of them: most texts have none, so one pass settles them. */
const SUSPECTS = new RegExp(`[${HIDDEN_CLASS}]+`, 'gu')

const EMOJI =
  /\p{Extended_Pictographic}|\p{Emoji_Modifier}|\p{Regional_Indicator}|[#*0-9]|\u{20e3}/u
/** Scripts whose spelling needs joiners or marks of direction. */
const JOINING_SCRIPTS = toWords(`
  Arabic Syriac Hebrew Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu Kannada
  Malayalam Sinhala Khmer Mongolian Myanmar Thai Tibetan
`)
const JOINING = new RegExp(
  `[${JOINING_SCRIPTS.map((script) => `\\p{Script=${script}}`).join('')}]`,
  'u',
)
const IDEOGRAPH = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u
const BLACK_FLAG = 0x1f3f4

const NOT_PLAIN = /[^\t\n\r -~]/

/** ASCII that is printed, and line breaks: nothing can hide in it. */
export function isPlain(text: string): boolean {
  return !NOT_PLAIN.test(text)
}

/** What a suspect character costs, in characters that one expression searches: up to 150 ns. */
const SUSPECT_COST = 12

/** The first FINDINGS_MAX runs of hidden characters. Linear. Stops once the budget is used up: the caller
 * looks at what is left of it. */
export function findHidden(text: string, budget?: { charsLeft: number }): Finding[] {
  const findings: Finding[] = []
  for (const { start, end } of hiddenRuns(text, budget)) {
    const words = nameAll(text.slice(start, end))
    findings.push({ kind: 'hidden text', severity: 'refuse', start, end, text: words })
    if (findings.length >= FINDINGS_MAX) break
  }
  return findings
}

interface HiddenRun {
  readonly start: number
  end: number
}

/** A run of hidden characters is one finding: a whole sentence may be written in tags. */
function* hiddenRuns(text: string, budget?: { charsLeft: number }): Generator<HiddenRun> {
  if (isPlain(text)) return
  const context: TextContext = { text, isJoining: undefined }
  let run: HiddenRun | undefined
  // The pattern is shared: a consumer may search another text between two runs.
  let next = 0
  for (;;) {
    SUSPECTS.lastIndex = next
    const found = SUSPECTS.exec(text)
    if (found === null) break
    next = SUSPECTS.lastIndex
    if (budget !== undefined) {
      budget.charsLeft -= SUSPECT_COST * (next - found.index)
      if (budget.charsLeft < 0) break
    }
    for (let start = found.index; start < next; ) {
      const code = text.codePointAt(start) as number
      const end = start + (code > 0xffff ? 2 : 1)
      if (!isFine(code, context, { start, end, isFirst: start === found.index })) {
        if (run?.end === start) run.end = end
        else {
          if (run !== undefined) yield run
          run = { start, end }
        }
      }
      start = end
    }
  }
  if (run !== undefined) yield run
}

/** A text, and what is found out about the whole of it at most once. */
interface TextContext {
  readonly text: string
  isJoining: boolean | undefined
}

/** One suspect character; `isFirst`: no other suspect stands before it. */
interface SuspectRun {
  readonly start: number
  readonly end: number
  readonly isFirst: boolean
}

function isFine(code: number, context: TextContext, { start, end, isFirst }: SuspectRun): boolean {
  const { text } = context
  // Once a text: a test for each mark made a text of marks cost the square of its length (F1).
  if (code === 0x200e || code === 0x200f || code === 0x61c) {
    context.isJoining ??= JOINING.test(text)
    return context.isJoining
  }
  if (code >= 0xe0020 && code <= 0xe007f) return isFlag(text, start)
  if (code === 0x200c && isBeforeJoining(text, end)) return true
  // What is suspect itself is no letter that the rest could belong to.
  if (!isFirst) return code === 0x200d && isPresented(text, start)
  const before = traitsOf(lastPoint(text, start))
  if (code === 0xfe0e || code === 0xfe0f) return takesPresentation(before, text, { start, end })
  if (code >= 0xfe00 && code <= 0xfe0d) return (before & (IS_IDEOGRAPH | IS_SYMBOL)) !== 0
  if (code >= 0xe0100 && code <= 0xe01ef) return (before & IS_IDEOGRAPH) !== 0
  if (code === 0x200d) return (before & (IS_EMOJI | IS_JOINING)) !== 0
  if (code === 0x200c || (code >= 0x180b && code <= 0x180f)) return (before & IS_JOINING) !== 0
  return false
}

/** Text or emoji presentation: one selector directly behind an emoji or symbol; behind a digit only in a
 * keycap. A text may carry hidden bits in selectors anywhere else. */
function takesPresentation(
  before: number,
  text: string,
  { start, end }: Pick<SuspectRun, 'start' | 'end'>,
): boolean {
  if (text.charCodeAt(start - 1) < 0x80) return text.charCodeAt(end) === 0x20e3 && before !== 0
  return (before & (IS_EMOJI | IS_SYMBOL)) !== 0
}

const IS_EMOJI = 1
const IS_JOINING = 2
const IS_IDEOGRAPH = 4
const IS_SYMBOL = 8
const IS_KNOWN = 16
/** The traits of code points that were seen: four expressions for every joiner cost half a microsecond. */
let traits: Uint8Array | undefined

function traitsOf(letter: string): number {
  const code = letter.codePointAt(0)
  if (code === undefined) return 0
  traits ??= new Uint8Array(0x11_0000)
  const known = traits[code] as number
  if (known !== 0) return known
  let classes = IS_KNOWN
  if (EMOJI.test(letter)) classes |= IS_EMOJI
  if (JOINING.test(letter)) classes |= IS_JOINING
  if (IDEOGRAPH.test(letter)) classes |= IS_IDEOGRAPH
  if (/\p{S}/u.test(letter)) classes |= IS_SYMBOL
  traits[code] = classes
  return classes
}

/** Whether an emoji with its selector ends here. */
function isPresented(text: string, end: number): boolean {
  if (text.charCodeAt(end - 1) !== 0xfe0f) return false
  return (traitsOf(lastPoint(text, end - 1)) & IS_EMOJI) !== 0
}

/** One of the next two units, as a pair or by itself. */
function isBeforeJoining(text: string, at: number): boolean {
  const next = text.codePointAt(at)
  if (next === undefined) return false
  if (next > 0xffff) return (traitsOf(String.fromCodePoint(next)) & IS_JOINING) !== 0
  return ((traitsOf(text.charAt(at)) | traitsOf(text.charAt(at + 1))) & IS_JOINING) !== 0
}

/** The flags of England, Scotland and Wales are a black flag with tags. */
function isFlag(text: string, start: number): boolean {
  let at = start
  for (let steps = 0; steps < FLAG_TAGS_MAX && at > 0; steps++) {
    const point = lastPoint(text, at).codePointAt(0)
    if (point === BLACK_FLAG) return true
    if (point === undefined || point < 0xe0020 || point > 0xe007f) return false
    at -= 2
  }
  return false
}

const FLAG_TAGS_MAX = 7

function lastPoint(text: string, end: number): string {
  const low = text.charCodeAt(end - 1)
  const pair = low >= 0xdc00 && low <= 0xdfff
  return text.slice(Math.max(0, end - (pair ? 2 : 1)), end)
}

const NAMED_MAX = 80

/** Code points by their numbers, the first of them if they are many. */
function nameAll(hidden: string): string {
  let named = ''
  for (const letter of hidden) {
    if (named.length > NAMED_MAX) break
    const code = letter.codePointAt(0) as number
    named += `${named === '' ? '' : ' '}U+${code.toString(16).toUpperCase().padStart(4, '0')}`
  }
  return named
}

/**
 * The text without anything hidden, also past the findings that are reported.
 *
 * @example
 * ```ts
 * stripHidden('pay\u200bload') // payload
 * ```
 */
export function stripHidden(text: string): string {
  let visible = ''
  let from = 0
  for (const { start, end } of hiddenRuns(text)) {
    visible += text.slice(from, start)
    from = end
  }
  return from === 0 ? text : visible + text.slice(from)
}
