// Where data of the kinds that a policy names stands in a text: as written, in base64 or hex, and behind
// escapes (percent, entities, backslashes, characters without width). An escaped secret is located as the
// word it stands in, because its decoded places are not those of the text. Linear, under a budget. Pure.

import type { DataKind } from '@sluice/policy/calls/data-kinds'
import { findEncodedRuns } from '@sluice/policy/readers/encoded-runs'
import { runSteps, type Steps } from '@sluice/policy/structures/steps'
import { ExactNumber, isObject, type JsonValue } from '@sluice/policy/values/json'
import { groupsOf } from './data-detectors.ts'
import { DEPTH_MAX, SPLIT_LEAVES_MAX, SPLIT_PARTS_MAX } from './limits.ts'
import { isCard } from './number-checks.ts'
import { newScanBudget, type ScanBudget, spend } from './patterns.ts'
import { isNamedSecret, isPasswordName } from './secret-names.ts'
import { type DataMatch, findDataSteps, plainDataIn } from './secrets.ts'
import { countEscapes, readingsOf } from './views.ts'

/** In the order of the text, without overlaps, in steps, each short; undefined if the budget does not allow to look. */
export function* locateDataSteps(
  text: string,
  kinds: ReadonlySet<DataKind>,
  budget: ScanBudget,
): Steps<readonly DataMatch[] | undefined> {
  if (!spend(budget, TEXT_COST + kinds.size * text.length)) return undefined
  const matches = yield* findDataSteps(text, kinds, budget)
  if (budget.charsLeft < 0) return undefined
  if (text.length > STEP_CHARS) {
    if (!spend(budget, ESCAPE_COST * countEscapes(text))) return undefined
    yield
  }
  const [, ...readings] = readingsOf(text, budget)
  if (readings.length === 0) return matches
  const hidden = matches.length === 0 ? readings : readingsOf(blank(text, matches), budget).slice(1)
  for (const reading of hidden) {
    if (reading === undefined || !spend(budget, kinds.size * reading.length)) return undefined
    const [first] = yield* findDataSteps(reading, kinds, budget)
    if (first === undefined) continue
    const words = yield* locateWords(text, kinds, budget)
    if (words === undefined) return undefined
    // Over several words: nothing of the text can be shown.
    if (words.length === 0) return [{ ...first, start: 0, end: text.length }]
    return merge([...matches, ...words])
  }
  return matches
}

/** What an escape of a long text costs, in characters that are searched: some 80 ns. */
const ESCAPE_COST = 16
/** Work on texts beyond this pauses between its parts. */
const STEP_CHARS = 16_384
/** What a text costs however short it is, in characters that are searched. */
const TEXT_COST = 100

/** Words that hold data once their escapes are undone. */
function* locateWords(
  text: string,
  kinds: ReadonlySet<DataKind>,
  budget: ScanBudget,
): Steps<DataMatch[] | undefined> {
  const words: DataMatch[] = []
  let pauseAt = STEP_CHARS
  for (const { 0: word, index } of text.matchAll(/\S+/g)) {
    if (!spend(budget, TEXT_COST)) return undefined
    if (index > pauseAt) {
      pauseAt = index + STEP_CHARS
      yield
    }
    for (const reading of readingsOf(word, budget).slice(1)) {
      if (reading === undefined || !spend(budget, kinds.size * reading.length)) return undefined
      const [first] = yield* findDataSteps(reading, kinds, budget)
      if (first === undefined) continue
      words.push({ ...first, start: index, end: index + word.length })
      break
    }
  }
  return words
}

function blank(text: string, matches: readonly DataMatch[]): string {
  let left = ''
  let next = 0
  for (const { start, end } of matches) {
    left += text.slice(next, start) + ' '.repeat(end - start)
    next = end
  }
  return left + text.slice(next)
}

function merge(matches: DataMatch[]): DataMatch[] {
  const merged: DataMatch[] = []
  for (const each of matches.sort((one, other) => one.start - other.start)) {
    const last = merged.at(-1)
    if (last === undefined || each.start >= last.end) merged.push(each)
    else merged[merged.length - 1] = { ...last, end: Math.max(last.end, each.end) }
  }
  return merged
}

/** Whether a message, as JSON text, can hold data at all: most small ones are settled by this. */
export function canHoldData(json: string, kinds: ReadonlySet<DataKind>): boolean {
  const text = json.includes('\\') ? json.replace(COMMON_ESCAPE, ' ') : json
  if (CAN_HIDE.test(text) || SECRET_MEMBER.test(text)) return true
  if (groupsOf(kinds).some(({ beginnings }) => beginnings.test(text))) return true
  return !findEncodedRuns(text).next().done
}

const COMMON_ESCAPE = /\\[nrt"]/g
/** Escapes that are not undone here, and what has no width. */
const CAN_HIDE = /[\\%&]|=[0-9A-Fa-f]{2}|[^\x20-\x7e\xa1-\xac\xae-\u024f\u2010-\u2027\u20ac]/
/** Names by which a value is a secret. */
const SECRET_MEMBER = /(?:passw(?:or)?d|passphrase|passcode|pwd|secret|key|token|card|pan|cc)"/i

/** The same for a member of an object, whose name may say what its value is. */
export function locateInMember(
  name: string,
  text: string,
  options: LocateOptions,
): readonly DataMatch[] | undefined {
  return runSteps(locateInMemberSteps(name, text, options))
}

interface LocateOptions {
  readonly kinds: ReadonlySet<DataKind>
  readonly budget: ScanBudget
}

export function* locateInMemberSteps(
  name: string,
  text: string,
  options: LocateOptions,
): Steps<readonly DataMatch[] | undefined> {
  const { kinds, budget } = options
  const whole = { start: 0, end: text.length }
  if (kinds.has('secret') && isNamedSecret(name, text))
    return [{ kind: 'named secret', group: 'secret', ...whole }]
  if (kinds.has('password') && isPasswordName(name) && text.length >= PASSWORD_CHARS_MIN)
    return [{ kind: 'password', group: 'password', ...whole }]
  const matches = yield* locateDataSteps(text, kinds, budget)
  if (matches === undefined || matches.length > 0 || !kinds.has('card')) return matches
  return text.length <= CARD_CHARS_MAX && isCard(text.trim(), { before: name, after: '' })
    ? [{ kind: 'card number', group: 'card', ...whole }]
    : matches
}

const PASSWORD_CHARS_MIN = 4
/** Nineteen digits with separators. */
const CARD_CHARS_MAX = 30

/** Whether a value holds data of a kind, in a text, a long number or the name of a member, or split over
 * adjacent texts. What is too large to look through counts as found. */
export function holdsData(value: JsonValue, kind: Exclude<DataKind, 'secret'>): boolean {
  return runSteps(holdsDataSteps(value, kind))
}

/** The same in steps, each short. */
export function* holdsDataSteps(
  value: JsonValue,
  kind: Exclude<DataKind, 'secret'>,
): Steps<boolean> {
  const kinds = new Set([kind])
  const budget = newScanBudget()
  let unpaused = 0
  for (const { text, name } of leavesOf(value, 0, '')) {
    const matches =
      text === undefined
        ? undefined
        : yield* locateInMemberSteps(name ?? '', text, { kinds, budget })
    if (matches === undefined || matches.length > 0) return true
    unpaused += TEXT_COST + (text?.length ?? 0)
    if (unpaused < STEP_CHARS) continue
    unpaused = 0
    yield
  }
  return kind !== 'card' && (yield* isSplitSteps(value, kind, budget))
}

interface Leaf {
  /** The text; undefined if it is nested too deeply. */
  readonly text: string | undefined
  /** The name of the member that holds the text; undefined if it is a name itself. */
  readonly name: string | undefined
}

/** Texts, numbers and names of members, in their order. */
export function* leavesOf(value: JsonValue, depth: number, name: string): Generator<Leaf> {
  if (typeof value === 'string') yield { text: value, name }
  else if (typeof value === 'number') yield { text: String(value), name }
  else if (value instanceof ExactNumber) yield { text: value.text, name }
  else if (depth > DEPTH_MAX) yield { text: undefined, name }
  else if (Array.isArray(value))
    for (const item of value as readonly JsonValue[]) yield* leavesOf(item, depth + 1, name)
  else if (isObject(value))
    for (const key of Object.keys(value)) {
      yield { text: key, name: undefined }
      yield* leavesOf(value[key] as JsonValue, depth + 1, key)
    }
}

/** Whether a value of the kind was cut into pieces, one for each argument. Not for cards: two order numbers in a
 * row would pass the checksum of a card one time in ten. The pieces themselves have been looked through. */
export function* isSplitSteps(
  value: JsonValue,
  kind: DataKind,
  budget: ScanBudget,
): Steps<boolean> {
  const pieces: string[] = []
  for (const { text, name } of leavesOf(value, 0, '')) {
    if (name === undefined || text === undefined || text.length > JOINED_CHARS_MAX) continue
    if (pieces.push(text) > SPLIT_LEAVES_MAX) break
  }
  let unpaused = 0
  for (let from = 0; from + 1 < pieces.length; from++) {
    let joined = (pieces[from] as string).slice(-PIECE_CHARS_MAX)
    for (const next of pieces.slice(from + 1, from + SPLIT_PARTS_MAX)) {
      joined += next.slice(0, PIECE_CHARS_MAX)
      if (plainDataIn(joined, kind, budget) !== undefined) return true
      unpaused += TEXT_COST + joined.length
      // What goes on behind it is longer than anything that is cut into pieces.
      if (next.length > PIECE_CHARS_MAX) break
    }
    if (unpaused < STEP_CHARS) continue
    unpaused = 0
    yield
  }
  return false
}

/** A longer text is no piece of anything. */
const JOINED_CHARS_MAX = 2_048
/** The length of one piece of a secret, which has up to four. */
const PIECE_CHARS_MAX = 512
