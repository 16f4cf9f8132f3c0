// How a record is written for hashing and keeping: one JSON array, version first, every field in
// its place. Versioned and injective: two records that differ never read the same. The same bytes
// are hashed and stored, so nothing has to be written twice the same way.

import type { Take } from '../core/counters.ts'
import { type Decimal, formatDecimal } from '../core/decimal.ts'
import { ExactNumber, type JsonValue } from '../core/json.ts'
import { isNotKept, type Judged, type JudgedValue } from '../core/judged.ts'
import { LedgerError } from './errors.ts'
import { JUDGED_ENTRIES_MAX, TEXT_KEPT_LENGTH, TEXT_LENGTH_MAX } from './limits.ts'
import { digestOf, type Entry, type Judgement, type Outcome } from './record.ts'

export const ENCODING_VERSION = 1
/** The third field; numbers, so that a walk over the chain need not read further. */
export const KINDS = { intent: 1, refusal: 2, outcome: 3, event: 4 } as const

export function encode(entry: Entry, seq: number): string {
  const head = [ENCODING_VERSION, seq, KINDS[entry.kind], wallTime(entry.atMs)]
  switch (entry.kind) {
    case 'intent':
    case 'refusal':
      return JSON.stringify(judgementFields(head, entry))
    case 'outcome':
      return JSON.stringify(outcomeFields(head, entry, entry.intent))
    case 'event':
      return JSON.stringify([...head, text(entry.name), json(entry.detail)])
  }
}

function judgementFields(head: readonly number[], of: Judgement): unknown[] {
  const { decision, principal } = of
  return [
    ...head,
    // These two first: a restart reads no further.
    decision.limits.map(takeFields),
    decision.shadow.map(({ rule, action, code, reason, limits }) => [
      text(rule),
      action,
      code,
      text(reason),
      limits.map(takeFields),
    ]),
    text(of.callId),
    text(principal.id),
    text(principal.kind),
    of.agent === null ? null : text(of.agent),
    text(of.session),
    text(of.server),
    text(of.method),
    text(of.name),
    of.category,
    text(of.policy),
    decision.action,
    decision.code,
    text(decision.rule),
    text(decision.reason),
    decision.guardrails.map(({ name, rule, action, undecided }) => [
      text(name),
      text(rule),
      action ?? null,
      undecided,
    ]),
    judgedFields(of.judged),
    of.argsDigest,
  ]
}

function outcomeFields(head: readonly number[], of: Outcome, intent: number): unknown[] {
  return [
    ...head,
    number(intent),
    of.status,
    number(of.durationMs),
    number(of.bytes),
    of.errorCode === null ? null : number(of.errorCode),
    of.digest,
    of.labels.map(text),
    number(of.attempts),
    of.givenBack,
  ]
}

/** A key is never cut: two counters must not become one. */
function takeFields({ key, kind, windowMs, max, amount }: Take): unknown[] {
  return [key, kind, number(windowMs), decimal(max), decimal(amount)]
}

function decimal(value: Decimal): string {
  return value.scale === 0 ? value.units.toString() : formatDecimal(value)
}

/** A number that no double holds is an array with its text, and why there is no value an object. */
function judgedFields(judged: Judged): unknown {
  const names = Object.keys(judged)
  if (names.length === 0) return 0
  if (names.length > JUDGED_ENTRIES_MAX)
    throw refused(`${names.length} values were judged, the limit is ${JUDGED_ENTRIES_MAX}`)
  return names.map((name) => {
    const value = judged[name] as JudgedValue
    if (isNotKept(value)) return [text(name), { is: value.is }]
    if (value instanceof ExactNumber) return [text(name), [value.text]]
    if (typeof value === 'string') return [text(name), shortened(value)]
    return [text(name), typeof value === 'number' ? number(value) : value]
  })
}

/** Cut texts are objects, so no text that was not cut can spell one. */
function text(value: string): unknown {
  return value.length <= TEXT_LENGTH_MAX ? value : shortened(value)
}

function shortened(value: string): unknown {
  if (value.length <= TEXT_LENGTH_MAX) return value
  return {
    cut: value.slice(0, TEXT_KEPT_LENGTH),
    length: value.length,
    sha256: digestOf(JSON.stringify(value)),
  }
}

function json(value: JsonValue): unknown {
  if (typeof value === 'number') return number(value)
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof ExactNumber) throw refused('an event has a number no double holds')
  if (Array.isArray(value)) return value.map(json)
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, json(inner)]))
}

/** JSON has no NaN and no infinity: `null` in their place would be another record's text. */
function number(value: number): number {
  if (Number.isFinite(value)) return value
  throw refused(`\`${value}\` is not a number`)
}

/** Whole milliseconds. A clock that says nonsense must not stop the record: it is kept as 0. */
export function wallTime(atMs: number): number {
  const whole = Math.round(atMs)
  return Number.isSafeInteger(whole) && whole > 0 ? whole : 0
}

function refused(message: string): LedgerError {
  return new LedgerError('LEDGER_RECORD', message, 'this is a fault of ours: please report it')
}
