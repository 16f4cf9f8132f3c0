// Encodes a record for hashing and storage: one JSON array, version first, every field by position.
// Versioned and injective: different records never encode the same. The same bytes are hashed and
// stored, so no canonical rewriting is needed.

import type { LimitCharge } from '@sluice/policy/calls/counters'
import type { GuardrailMatch } from '@sluice/policy/calls/decision'
import {
  type DecisionInput,
  type DecisionInputs,
  isOmittedInput,
} from '@sluice/policy/calls/decision-inputs'
import { type Decimal, formatDecimal, ONE } from '@sluice/policy/values/decimal'
import { ExactNumber, type JsonValue, quoteJson } from '@sluice/policy/values/json'
import type { AnswerChange } from './answer-changes.ts'
import { LedgerError } from './errors.ts'
import { type FieldCodec, field, fields, list, plain, tuple } from './field-codec.ts'
import { JUDGED_ENTRIES_MAX, TEXT_KEPT_LENGTH, TEXT_LENGTH_MAX } from './limits.ts'
import {
  type DecisionEntry,
  digestText,
  type LedgerEntry,
  type OutcomeEntry,
  type RecordedDecision,
} from './record.ts'

export const ENCODING_VERSION = 1
/** The third field; numbers, so that a walk over the chain need not read further. */
export const KINDS = { intent: 1, refusal: 2, outcome: 3, event: 4 } as const

export function encode(entry: LedgerEntry, seq: number): string {
  return toRecordText(seq, encodeBody(entry))
}

export function toRecordText(seq: number, body: string): string {
  return `[${ENCODING_VERSION},${seq}${body}`
}

/** Encodes what follows the number of a record. A shared store numbers records itself. */
export function encodeBody(entry: LedgerEntry): string {
  switch (entry.kind) {
    case 'intent':
    case 'refusal':
      return encodeDecision(entry, encodeShared(entry))
    case 'outcome':
      return `${headText(entry)},${outcomeText(entry, entry.intent)}]`
    case 'event':
      return `${headText(entry)},${encodeText(entry.name)},${JSON.stringify(json(entry.detail))}]`
  }
}

function headText({ atMs, kind }: Pick<LedgerEntry, 'atMs' | 'kind'>): string {
  return `,${KINDS[kind]},${timeText(atMs)}`
}

let lastMs = 0
let lastTime = '0'

/** Records of one commit mostly have one time. */
function timeText(atMs: number): string {
  const time = wallTime(atMs)
  if (time !== lastMs) {
    lastMs = time
    lastTime = String(time)
  }
  return lastTime
}

/** What is different for every call. */
type OwnFields = Pick<
  DecisionEntry,
  'atMs' | 'callId' | 'argsDigest' | 'unknown' | 'parent' | 'approval'
>
/** What calls of one session mostly share: who calls what, and the decision. */
export type SharedFields = Omit<DecisionEntry, keyof OwnFields>

/** The text of the shared fields, in front of the call's own and behind its id. */
export interface SharedText {
  readonly front: string
  readonly back: string
}

/**
 * `unknown`, `parent` and `approval` are last and only written if there is one: nearly every record ends before them, and
 * those of older ledgers do.
 */
export function encodeDecision(
  own: OwnFields & Pick<LedgerEntry, 'kind'>,
  { back, front }: SharedText,
  argsDigest = own.argsDigest,
): string {
  const digest = argsDigest === null ? 'null' : quoteJson(argsDigest)
  return `${headText(own)},${front},${quoteJson(own.callId)},${back},${digest}${lastText(own)}]`
}

export function encodeShared(of: SharedFields): SharedText {
  return { front: FRONT.write(of), back: BACK.write(of) }
}

/** Whether both have the same `SharedText`. It may be false although they have. */
export function isShared(one: SharedFields, other: SharedFields): boolean {
  return BACK.isSame(one, other) && FRONT.isSame(one, other)
}

function lastText({ unknown = false, parent, approval }: OwnFields): string {
  if (approval !== undefined) {
    const parentText = parent === undefined ? 'null' : quoteJson(parent)
    return `,${unknown},${parentText},${quoteJson(approval)}`
  }
  if (parent !== undefined) return `,${unknown},${quoteJson(parent)}`
  return unknown ? ',true' : ''
}

function outcomeText(of: OutcomeEntry, intent: number): string {
  const { status, errorCode, digest, labels, givenBack } = of
  const code = errorCode === null ? 'null' : number(errorCode)
  const digestText = digest === null ? 'null' : quoteJson(digest)
  return `${number(intent)},"${status}",${number(of.durationMs)},${number(of.bytes)},${code},${digestText},${TEXTS.write(labels)},${number(of.attempts)},${givenBack}${changesText(of.changes)}`
}

/** The last field, and only if there is something to say: nearly every outcome ends before it. */
function changesText(changes: readonly AnswerChange[]): string {
  return changes.length === 0 ? '' : `,${CHANGES.write(changes)}`
}

/** Bounds belong to the policy: the same objects with every call. */
const bounds = new WeakMap<Decimal, string>()

function boundText(max: Decimal): string {
  const known = bounds.get(max)
  if (known !== undefined) return known
  const made = formatDecimal(max)
  bounds.set(max, made)
  return made
}

function amountText(amount: Decimal): string {
  return amount === ONE ? '1' : formatDecimal(amount)
}

function inputsText(judged: DecisionInputs): string {
  const names = Object.keys(judged)
  if (names.length === 0) return '0'
  if (names.length > JUDGED_ENTRIES_MAX)
    throw createRecordError(
      `${names.length} values were judged, the limit is ${JUDGED_ENTRIES_MAX}`,
    )
  const values = names.map(
    (name) => `[${encodeText(name)},${inputText(judged[name] as DecisionInput)}]`,
  )
  return `[${values.join(',')}]`
}

function isSameInputs(one: DecisionInputs, other: DecisionInputs): boolean {
  const names = Object.keys(one)
  const others = Object.keys(other)
  return (
    names.length === others.length &&
    names.every((name, at) => name === others[at] && one[name] === other[name])
  )
}

/**
 * A number that no double represents is an array with its text, and an absent value is an object
 * with the reason.
 */
function inputText(value: DecisionInput): string {
  if (typeof value === 'string') return encodeText(value)
  if (isOmittedInput(value)) return JSON.stringify({ is: value.is })
  if (value instanceof ExactNumber) return JSON.stringify([value.text])
  return JSON.stringify(typeof value === 'number' ? number(value) : value)
}

function encodeText(value: string): string {
  return value.length <= TEXT_LENGTH_MAX ? quoteJson(value) : JSON.stringify(shortened(value))
}

/** Truncated texts are objects, so that no complete text can imitate one. */
function shortened(value: string): unknown {
  if (value.length <= TEXT_LENGTH_MAX) return value
  return {
    cut: value.slice(0, TEXT_KEPT_LENGTH),
    length: value.length,
    sha256: digestText(JSON.stringify(value)),
  }
}

function json(value: JsonValue): unknown {
  if (typeof value === 'number') return number(value)
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof ExactNumber)
    throw createRecordError('an event has a number that no double represents')
  if (Array.isArray(value)) return value.map(json)
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, json(inner)]))
}

/** JSON has no NaN and no infinity: `null` instead would be another record's text. */
function number(value: number): number {
  if (Number.isFinite(value)) return value
  throw createRecordError(`\`${value}\` is not a number`)
}

/** Whole milliseconds. An invalid clock must not stop the ledger: it is recorded as 0. */
export function wallTime(atMs: number): number {
  const whole = Math.round(atMs)
  return Number.isSafeInteger(whole) && whole > 0 ? whole : 0
}

function createRecordError(message: string): LedgerError {
  return new LedgerError('LEDGER_RECORD', message, 'this is a fault of ours: please report it')
}

const TEXT = plain(encodeText)
/** A word of the gate's own, such as an action. */
const WORD = plain((word: string) => `"${word}"`)
const NUMBER = plain((value: number) => String(number(value)))
const decimal = (toText: (value: Decimal) => string): FieldCodec<Decimal> => ({
  write: (value) => `"${toText(value)}"`,
  isSame: (one, other) => one === other || (one.units === other.units && one.scale === other.scale),
})
const NULLABLE_TEXT = plain((value: string | null) => (value === null ? 'null' : encodeText(value)))
const TEXTS = list(TEXT)
const CHANGES = list(
  tuple<AnswerChange>([
    field(({ change }) => change, WORD),
    field(({ kind }) => kind, TEXT),
    field(({ count }) => count, NUMBER),
  ]),
)
const CHARGES = list(
  tuple<LimitCharge>([
    // A key is never truncated: two counters must not become one.
    field(({ key }) => key, plain(quoteJson)),
    field(({ kind }) => kind, WORD),
    field(({ windowMs }) => windowMs, NUMBER),
    field(({ max }) => max, decimal(boundText)),
    field(({ amount }) => amount, decimal(amountText)),
  ]),
)
const SHADOW = list(
  tuple<RecordedDecision['shadow'][number]>([
    field(({ rule }) => rule, TEXT),
    field(({ action }) => action, WORD),
    field(({ code }) => code, plain(quoteJson)),
    field(({ reason }) => reason, TEXT),
    field(({ limits }) => limits, CHARGES),
  ]),
)
const GUARDRAILS = list(
  tuple<GuardrailMatch>([
    field(({ name }) => name, TEXT),
    field(({ rule }) => rule, TEXT),
    field(({ action }) => action ?? null, NULLABLE_TEXT),
    field(({ undecided }) => undecided, plain(String)),
  ]),
)
/** Limits and shadow first: a restart reads no further. */
const FRONT = fields<SharedFields>([
  field(({ decision }) => decision.limits, CHARGES),
  field(({ decision }) => decision.shadow, SHADOW),
])
const BACK = fields<SharedFields>([
  field(({ principal }) => principal.id, TEXT),
  field(({ principal }) => principal.kind, TEXT),
  field(({ agent }) => agent, NULLABLE_TEXT),
  field(({ session }) => session, TEXT),
  field(({ server }) => server, TEXT),
  field(({ method }) => method, TEXT),
  field(({ name }) => name, TEXT),
  field(({ category }) => category, NULLABLE_TEXT),
  field(({ policy }) => policy, TEXT),
  field(({ decision }) => decision.action, WORD),
  field(({ decision }) => decision.code, plain(quoteJson)),
  field(({ decision }) => decision.rule, TEXT),
  field(({ decision }) => decision.reason, TEXT),
  field(({ decision }) => decision.guardrails, GUARDRAILS),
  field(({ judged }) => judged, { write: inputsText, isSame: isSameInputs }),
])
