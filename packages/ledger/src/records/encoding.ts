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
import {
  JUDGED_ENTRIES_MAX,
  REMEMBERED_SESSIONS_MAX,
  TEXT_KEPT_LENGTH,
  TEXT_LENGTH_MAX,
} from './limits.ts'
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

/**
 * Concatenated from texts, and what most calls share is encoded once: there are two of these for
 * every call.
 */
export function encode(entry: LedgerEntry, seq: number): string {
  return toRecordText(seq, encodeBody(entry))
}

export function toRecordText(seq: number, body: string): string {
  return `[${ENCODING_VERSION},${seq}${body}`
}

/** Encodes what follows the number of a record. A shared store numbers records itself. */
export function encodeBody(entry: LedgerEntry): string {
  const head = `,${KINDS[entry.kind]},${timeText(entry.atMs)}`
  switch (entry.kind) {
    case 'intent':
    case 'refusal':
      return `${head},${encodeDecision(entry)}]`
    case 'outcome':
      return `${head},${outcomeText(entry, entry.intent)}]`
    case 'event':
      return `${head},${encodeText(entry.name)},${JSON.stringify(json(entry.detail))}]`
  }
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

/**
 * Limits and shadow first: a restart reads no further. `unknown`, `parent` and `approval` are last and only written if
 * there is one: nearly every record ends before them, and those of older ledgers do.
 */
function encodeDecision(of: DecisionEntry): string {
  const { decision } = of
  const { limits, shadow, guardrails } = decision
  const values = inputsText(of.judged)
  const digest = of.argsDigest === null ? 'null' : quoteJson(of.argsDigest)
  return `${list(limits, encodeCharge)},${list(shadow, shadowText)},${quoteJson(of.callId)},${whoAndWhat(of)},${list(guardrails, guardrailText)},${values},${digest}${lastText(of)}`
}

function lastText({ unknown = false, parent, approval }: DecisionEntry): string {
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
  return `${number(intent)},"${status}",${number(of.durationMs)},${number(of.bytes)},${code},${digestText},${list(labels, encodeText)},${number(of.attempts)},${givenBack}${changesText(of.changes)}`
}

/** The last field, and only if there is something to say: nearly every outcome ends before it. */
function changesText(changes: readonly AnswerChange[]): string {
  if (changes.length === 0) return ''
  return `,${list(changes, ({ change, kind, count }) => `["${change}",${encodeText(kind)},${number(count)}]`)}`
}

/** Who calls what, and the decision. */
type DecisionFields = Omit<
  DecisionEntry,
  'atMs' | 'callId' | 'judged' | 'argsDigest' | 'unknown' | 'parent' | 'approval'
>

/** Encoded parts by session: calls of one session mostly share them. */
const remembered = new Map<string, { readonly of: DecisionFields; readonly text: string }>()

function whoAndWhat(of: DecisionFields): string {
  const known = remembered.get(of.session)
  if (known !== undefined && saysTheSame(known.of, of)) return known.text
  const { principal, agent, session, server, method, name, category, policy, decision } = of
  const fields = [
    text(principal.id),
    text(principal.kind),
    agent === null ? null : text(agent),
    text(session),
    text(server),
    text(method),
    text(name),
    category,
    text(policy),
    decision.action,
    decision.code,
    text(decision.rule),
    text(decision.reason),
  ]
  const inner = JSON.stringify(fields).slice(1, -1)
  if (remembered.size >= REMEMBERED_SESSIONS_MAX) remembered.clear()
  remembered.set(session, { of, text: inner })
  return inner
}

function saysTheSame(a: DecisionFields, b: DecisionFields): boolean {
  return (
    a.principal.id === b.principal.id &&
    a.principal.kind === b.principal.kind &&
    a.agent === b.agent &&
    a.session === b.session &&
    a.server === b.server &&
    a.method === b.method &&
    a.name === b.name &&
    a.category === b.category &&
    a.policy === b.policy &&
    a.decision.action === b.decision.action &&
    a.decision.code === b.decision.code &&
    a.decision.rule === b.decision.rule &&
    a.decision.reason === b.decision.reason
  )
}

/** A key is never truncated: two counters must not become one. */
function encodeCharge({ key, kind, windowMs, max, amount }: LimitCharge): string {
  return `[${quoteJson(key)},"${kind}",${number(windowMs)},"${boundText(max)}","${amountText(amount)}"]`
}

function shadowText({
  rule,
  action,
  code,
  reason,
  limits,
}: RecordedDecision['shadow'][number]): string {
  return `[${encodeText(rule)},"${action}",${quoteJson(code)},${encodeText(reason)},${list(limits, encodeCharge)}]`
}

function guardrailText({ name, rule, action, undecided }: GuardrailMatch): string {
  const word = action === undefined ? 'null' : `"${action}"`
  return `[${encodeText(name)},${encodeText(rule)},${word},${undecided}]`
}

function list<Item>(items: readonly Item[], write: (item: Item) => string): string {
  let inner = ''
  for (const item of items) inner = inner === '' ? write(item) : `${inner},${write(item)}`
  return `[${inner}]`
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
  return list(names, (name) => `[${encodeText(name)},${inputText(judged[name] as DecisionInput)}]`)
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
function text(value: string): unknown {
  return value.length <= TEXT_LENGTH_MAX ? value : shortened(value)
}

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
