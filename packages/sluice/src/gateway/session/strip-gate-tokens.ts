// What a client is sent has lost the gate's own tokens and links: an agent that reads somebody's mail,
// log or shell history through the gate is not to find there what lets a person in, in whatever
// spelling (F12): escapes, entities, base64, hex, over several lines. One search a message; the texts
// of a message are read one by one only if it finds something that could spell a token.

import { runSteps, type Steps } from '@sluice/policy/core/steps'
import { NO_WIDTH_CLASS } from '../../core/hidden-characters.ts'
import { OWN_TOKEN_BEGINNING, OWN_TOKEN_PREFIX } from '../../core/own-token-shapes.ts'
import { decodeRun, findEncodedRuns } from '../../guard/encoded-runs.ts'
import { readingsOf, type ViewBudget } from '../../guard/views.ts'
import { redactGateTokens } from '../../identity/keys/gate-tokens.ts'
import {
  RUN_BEGINNINGS_MAX,
  STEP_CHARS,
  STRIPPED_COST_MAX,
  STRIPPED_TEXT_LENGTH_MAX,
} from './limits.ts'
import {
  IN_BASE64,
  IN_HEX,
  newSpacedBudget,
  type SpacedBudget,
  stripSpaced,
} from './spaced-tokens.ts'
import { testSteps } from './test-steps.ts'

const ENCODED = new RegExp(`${IN_BASE64.join('|')}|${IN_HEX}|${IN_HEX.toUpperCase()}`)
/** Anything by which a text can spell a token; a line break, because one may be wrapped. */
const MAYBE = new RegExp(
  `sluice|\\\\[nrux0-3\\\\]|[${NO_WIDTH_CLASS}]|73[ :,-]{1,2}6[cC]|&[#a-zA-Z]|[%=][2-7][0-9A-Fa-f]|${ENCODED.source}`,
)
const REMOVED = `${OWN_TOKEN_PREFIX}removed`

/** A message without the gate's tokens; every other byte as it was. */
export function stripOwnTokens(message: string): string {
  // Nearly every message: one search, and no generator for it.
  if (message.length <= STEP_CHARS && !MAYBE.test(message)) return message
  return runSteps(stripOwnSteps(message))
}

/** As `stripOwnTokens`, with a pause after each part of the work that is short for a long message. */
export function* stripOwnSteps(message: string): Steps<string> {
  if (!(yield* mayHold(message, 0, message.length))) return message
  let left = STRIPPED_COST_MAX
  const budget = newSpacedBudget()
  const parts: string[] = []
  let from = 0
  let unpaused = 0
  for (let start = message.indexOf('"'); start >= 0; ) {
    const end = endOfString(message, start)
    unpaused += end - start + STRING_CHARS
    // No spelling of a token is shorter than the token.
    if (end - start >= TOKEN_CHARS_MIN && (yield* mayHold(message, start, end))) {
      const isTooLong = end - start > STRIPPED_TEXT_LENGTH_MAX
      const text = left < 0 || isTooLong ? '' : (JSON.parse(message.slice(start, end)) as string)
      const cost = isTooLong ? 0 : costOf(text, left)
      left -= cost
      unpaused += cost * CHARS_PER_UNIT
      // What would take too long to look through is not passed on.
      const clean = left < 0 || isTooLong ? REMOVED : yield* stripText(text, budget)
      if (clean !== text) {
        parts.push(message.slice(from, start), JSON.stringify(clean))
        from = end
      }
    }
    if (unpaused > STEP_CHARS) {
      yield
      unpaused = 0
    }
    start = message.indexOf('"', end)
  }
  return from === 0 ? message : parts.join('') + message.slice(from)
}

/** What a string costs beside its own characters. */
const STRING_CHARS = 16

/** Whether a token may be spelt in `message` from `start` to `end`. */
function mayHold(message: string, start: number, end: number): Steps<boolean> {
  return testSteps(MAYBE, message, start, end)
}

/** `sluice_in_` and 43 letters. */
const TOKEN_CHARS_MIN = 53
// Also what only begins like an escape: it is tried as one.
const ESCAPE = /\\[ux0-3\\/"'_.:-]|&[#A-Za-z]|[%=][0-9a-fA-F]|[=\\][ \t\r\n]|sluice/g
/** What a text costs, in units of some 100 ns: by itself, for each escape, which is undone on its own, and
 * if it has any for so many of its characters. */
const TEXT_COST = 8
const ESCAPE_COST = 4
const CHARS_PER_UNIT = 10

/** More than `left`, if it is more. */
function costOf(text: string, left: number): number {
  ESCAPE.lastIndex = 0
  // A long text that spells the prefix of a token is hardly there by chance.
  const encodedCost = ENCODED.test(text) ? text.length : 0
  if (!ESCAPE.test(text)) return TEXT_COST + encodedCost
  let cost = 3 * TEXT_COST + ESCAPE_COST + text.length / CHARS_PER_UNIT + encodedCost
  while (cost <= left && ESCAPE.exec(text) !== null) cost += ESCAPE_COST
  return cost
}

/** Behind the quote that ends the string which begins at `start`. By hand: an expression keeps a place on
 * the stack for every escape. */
function endOfString(message: string, start: number): number {
  for (let end = start; ; ) {
    end = message.indexOf('"', end + 1)
    if (end < 0) return message.length
    let slashes = end
    while (message.charCodeAt(slashes - 1) === BACKSLASH) slashes--
    if ((end - slashes) % 2 === 0) return end + 1
  }
}

const BACKSLASH = 0x5c

/** The caller has counted what it costs. */
const UNBOUNDED: ViewBudget = { charsLeft: Number.POSITIVE_INFINITY }

/** Every reading without tokens. Where an escaped one was found, what is left is read again. */
function* stripText(text: string, budget: SpacedBudget, rounds = 0): Steps<string> {
  if (text.length > STEP_CHARS) yield
  for (const reading of readingsOf(text, UNBOUNDED) as string[]) {
    const stripped = yield* stripReading(reading, budget)
    if (stripped === undefined || rounds > STRIP_ROUNDS_MAX) return REMOVED
    if (stripped !== reading) return yield* stripText(stripped, budget, rounds + 1)
  }
  return text
}

const STRIP_ROUNDS_MAX = 4

/** With a pause between the searches of a long text. */
function* stripReading(reading: string, budget: SpacedBudget): Steps<string | undefined> {
  const isLong = reading.length > STEP_CHARS
  if (isLong) yield
  const plain = (yield* testSteps(BEGINNING, reading)) ? redactGateTokens(reading) : reading
  if (isLong) yield
  const joined = FOLDED.test(plain) ? yield* joinLines(plain) : plain
  if (isLong) yield
  const clean = (yield* testSteps(ENCODED, joined)) ? stripRuns(plain) : plain
  return yield* stripSpaced(clean, REMOVED, budget)
}

const BEGINNING = new RegExp(OWN_TOKEN_BEGINNING)
/** A run of base64 or hex over several lines; by its line breaks, which are fewer than its letters. */
const FOLDED = /(?<=[\w+/-]{8})\r?\n[\w+/-]/

function* joinLines(text: string): Steps<string> {
  const parts: string[] = []
  for (let from = 0; from < text.length; ) {
    if (from > 0) yield
    let end = from + STEP_CHARS
    // The two characters of a line break stay together.
    while (text.charCodeAt(end - 1) === CARRIAGE_RETURN) end++
    parts.push(text.slice(from, end).replace(/\r?\n/g, ''))
    from = end
  }
  return parts.join('')
}

const CARRIAGE_RETURN = 0x0d

/** Runs of base64 and hex that hold a token are left out as a whole. */
function stripRuns(text: string): string {
  const parts: string[] = []
  let from = 0
  for (const run of findEncodedRuns(text)) {
    if (!ENCODED.test(run.text) || !holdsToken(run)) continue
    parts.push(text.slice(from, run.start), REMOVED)
    from = run.end
  }
  return from === 0 ? text : parts.join('') + text.slice(from)
}

/** Whether a token begins where the encoded text spells its prefix. Only what follows each such place is
 * decoded: a run of many megabytes costs one search. Past so many places it counts as holding one. */
function holdsToken(run: Parameters<typeof decodeRun>[0]): boolean {
  if (run.text.length <= TOKEN_WINDOW_CHARS) return decodesToToken(run)
  const beginnings = new RegExp(ENCODED, 'g')
  for (let count = 0; ; count += 1) {
    const found = beginnings.exec(run.text)
    if (found === null) return false
    if (count === RUN_BEGINNINGS_MAX) return true
    const from = Math.max(0, found.index - PREFIX_CHARS)
    const text = run.text.slice(from, from + TOKEN_WINDOW_CHARS)
    if (decodesToToken({ ...run, text })) return true
  }
}

/** More than the longest token takes in hex, and what may stand before its prefix in the same group. */
const TOKEN_WINDOW_CHARS = 1_024
const PREFIX_CHARS = 8

function decodesToToken(run: Parameters<typeof decodeRun>[0]): boolean {
  for (const inside of decodeRun(run, UNBOUNDED) as Iterable<string>)
    if (redactGateTokens(inside) !== inside) return true
  return false
}
