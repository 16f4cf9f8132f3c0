// Removes the gate's own tokens and links from what a client is sent: an agent that reads somebody's mail,
// log or shell history through the gate must not find there what lets a person in (F12). A token is found
// in plain text, also wrapped, in base64 and in hex. Other spellings are a non-goal (docs/concepts/threats-details.md).
// A message is searched once; its strings are read one by one only if that finds a possible beginning.

import { redactGateTokens } from '@sluice/access/identity/keys/gate-tokens'
import { OWN_TOKEN_PREFIX } from '@sluice/guard/own-token-shapes'
import { decodeRun, type EncodedRun, findEncodedRuns } from '@sluice/policy/readers/encoded-runs'
import { runSteps, type Steps } from '@sluice/policy/structures/steps'
import { STEP_CHARS, STRIPPED_TEXT_LENGTH_MAX, TOKEN_BEGINNINGS_MAX } from './limits.ts'

/** The prefix in base64 at each alignment, without the letters that depend on what is beside it. */
const IN_BASE64 = [0, 1, 2].map((before) => {
  const text = Buffer.from(`${'x'.repeat(before)}${OWN_TOKEN_PREFIX}`).toString('base64url')
  const bits = 8 * (before + OWN_TOKEN_PREFIX.length)
  return text.slice(Math.ceil((8 * before) / 6), Math.floor(bits / 6))
})
const IN_HEX = Buffer.from(OWN_TOKEN_PREFIX).toString('hex')
const ENCODED = [...IN_BASE64, IN_HEX, IN_HEX.toUpperCase()]
const BEGINNING = new RegExp(ENCODED.join('|'), 'g')

/** A line break inside a string of JSON, with what programs put before the next line. */
const JSON_WRAP = '(?:=?(?:\\\\r)?\\\\n(?:[ >*#+|/;]|\\\\[t/]){0,8})?'
/** A string of JSON may spell a token. A Unicode escape may stand for any character of it. */
const MAYBE = new RegExp(
  ['\\\\u00', ...[OWN_TOKEN_PREFIX, ...ENCODED].map((word) => [...word].join(JSON_WRAP))].join('|'),
)
/** More than the longest match of `MAYBE`, which may be over the end of a step. */
const OVERLAP_CHARS = 512
const REMOVED = `${OWN_TOKEN_PREFIX}removed`
/** `sluice_in_` and 43 letters: no spelling of a token is shorter than the token. */
const TOKEN_CHARS_MIN = 53
/** The cost of a string beside its characters. */
const STRING_CHARS = 16

/** A message without the gate's tokens; every other byte as it was. */
export function stripOwnTokens(message: string): string {
  // Nearly every message: one search, and no generator for it.
  if (message.length <= STEP_CHARS && !MAYBE.test(message)) return message
  return runSteps(stripOwnSteps(message))
}

/** As `stripOwnTokens`, with a pause after each part of the work that is short for a long message. */
export function* stripOwnSteps(message: string): Steps<string> {
  if (!(yield* mayHold(message, 0, message.length))) return message
  const budget = { beginningsLeft: TOKEN_BEGINNINGS_MAX }
  const parts: string[] = []
  let from = 0
  let unpaused = 0
  for (let start = message.indexOf('"'); start >= 0; ) {
    const end = endOfString(message, start)
    unpaused += end - start + STRING_CHARS
    if (unpaused > STEP_CHARS) {
      yield
      unpaused = 0
    }
    if (end - start >= TOKEN_CHARS_MIN && (yield* mayHold(message, start, end))) {
      // What would take too long to search is not passed on.
      const isTooLong = end - start > STRIPPED_TEXT_LENGTH_MAX
      const text = isTooLong ? '' : (JSON.parse(message.slice(start, end)) as string)
      const clean = isTooLong ? REMOVED : yield* stripRuns(redactGateTokens(text), budget)
      if (clean !== text) {
        parts.push(message.slice(from, start), JSON.stringify(clean))
        from = end
      }
    }
    start = message.indexOf('"', end)
  }
  return from === 0 ? message : parts.join('') + message.slice(from)
}

/** Whether `message` may spell a token from `start` to `end`. */
function* mayHold(message: string, start: number, end: number): Steps<boolean> {
  for (let from = start; from < end; from += STEP_CHARS) {
    if (from > start) yield
    if (MAYBE.test(message.slice(from, Math.min(end, from + STEP_CHARS + OVERLAP_CHARS))))
      return true
  }
  return false
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

/** Places in one message that may still be decoded. */
interface BeginningsBudget {
  beginningsLeft: number
}

/** Removes whole runs of base64 and hex that hold a token. */
function* stripRuns(text: string, budget: BeginningsBudget): Steps<string> {
  const parts: string[] = []
  let from = 0
  let unpaused = 0
  yield
  for (const run of findEncodedRuns(text)) {
    unpaused += run.text.length
    if (unpaused > STEP_CHARS) {
      yield
      unpaused = 0
    }
    if (!holdsToken(run, budget)) continue
    parts.push(text.slice(from, run.start), REMOVED)
    from = run.end
  }
  return from === 0 ? text : parts.join('') + text.slice(from)
}

/** More than the shortest match of a token takes in hex, with what may precede its prefix in the same group. */
const TOKEN_WINDOW_CHARS = 192
const PREFIX_CHARS = 8
/** The number of places bounds what is decoded. */
const UNBOUNDED = { charsLeft: Number.POSITIVE_INFINITY }

/** Whether a token begins where the run spells its prefix. Only what follows each such place is decoded, so
 * that a run of many megabytes costs one search. After too many places a run counts as holding one. */
function holdsToken(run: EncodedRun, budget: BeginningsBudget): boolean {
  for (const { index } of run.text.matchAll(BEGINNING)) {
    if (--budget.beginningsLeft < 0) return true
    const from = Math.max(0, index - PREFIX_CHARS)
    const text = run.text.slice(from, from + TOKEN_WINDOW_CHARS)
    for (const inside of decodeRun({ ...run, text }, UNBOUNDED) as Iterable<string>)
      if (redactGateTokens(inside) !== inside) return true
  }
  return false
}
