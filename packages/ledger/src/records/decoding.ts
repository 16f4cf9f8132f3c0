// Decodes records, for queries, exports and restarts. What is not a record of a known version is a
// LedgerError that names its position; nothing is guessed.

import type { Action } from '@sluice/policy/core/actions'
import type { LimitCharge } from '@sluice/policy/core/counters'
import type { Decimal } from '@sluice/policy/core/decimal'
import type { DecisionInputs, OmittedInput } from '@sluice/policy/core/decision-inputs'
import { ExactNumber, type JsonValue } from '@sluice/policy/core/json'
import type { Category } from '@sluice/policy/core/tools'
import { ENCODING_VERSION, KINDS } from './encoding.ts'
import { LedgerError } from './errors.ts'
import type { DecisionEntry, LedgerRecord, RecordedDecision, Status } from './record.ts'

// biome-ignore lint/suspicious/noExplicitAny: fields by place; the hash says that we wrote them
type RecordArray = any[]

export function decode(text: string): LedgerRecord {
  const fields = parseRecordJson(text)
  return refusingDamage(() => toRecord(fields))
}

function toRecord(fields: RecordArray): LedgerRecord {
  const [version, seq, kind, atMs, ...rest] = fields
  if (version !== ENCODING_VERSION)
    throw broken(`record ${seq} has version \`${version}\`, this program reads ${ENCODING_VERSION}`)
  switch (kind) {
    case KINDS.intent:
      return decisionEntry('intent', seq, atMs, rest)
    case KINDS.refusal:
      return decisionEntry('refusal', seq, atMs, rest)
    case KINDS.outcome: {
      const [intent, status, durationMs, bytes, errorCode, digest, labels, attempts] = rest
      const [givenBack, changes = []] = rest.slice(8)
      return {
        kind: 'outcome',
        seq,
        intent,
        atMs,
        status: status as Status,
        durationMs,
        bytes,
        errorCode,
        digest,
        labels: labels.map(text_),
        attempts,
        givenBack,
        changes: changes.map(([change, kind, count]: RecordArray) => ({
          change,
          kind: text_(kind),
          count,
        })),
      }
    }
    case KINDS.event:
      return { kind: 'event', seq, atMs, name: text_(rest[0]), detail: rest[1] as JsonValue }
    default:
      throw broken(`record ${seq} is of no known kind (\`${kind}\`)`)
  }
}

/** The part of a call that a restart needs. */
export interface RestoredCall
  extends Pick<DecisionEntry, 'atMs' | 'session' | 'server' | 'method' | 'name'> {
  readonly kind: 'intent' | 'refusal'
  readonly seq: number
}

/** Decodes the call of an intent or a refusal. */
export function decodeCall(text: string): RestoredCall {
  const fields = parseRecordJson(text)
  const [version, seq, kind, atMs] = fields
  if (version !== ENCODING_VERSION || (kind !== KINDS.intent && kind !== KINDS.refusal))
    throw broken(`record ${seq} is not a call`)
  return refusingDamage(() => ({
    kind: kind === KINDS.intent ? 'intent' : 'refusal',
    seq,
    atMs,
    session: text_(fields[10]),
    server: text_(fields[11]),
    method: text_(fields[12]),
    name: text_(fields[13]),
  }))
}

/**
 * The charges of an intent, including shadow rules. `at` is where its fifth field starts; nothing
 * after the sixth is read.
 */
export function decodeCharges(data: Buffer, at: number): LimitCharge[] {
  const middle = endOfArray(data, at)
  const end = endOfArray(data, middle + 1)
  if (end - at === '[],[]'.length) return []
  const [limits, shadow] = parseRecordJson(`[${data.toString('utf8', at, end)}]`) as [
    RecordArray,
    RecordArray,
  ]
  return refusingDamage(() => [
    ...limits.map(decodeCharge),
    ...shadow.flatMap((decision) => decision[4].map(decodeCharge) as LimitCharge[]),
  ])
}

/** Fields are read by position without type checks: a mismatch is damage. */
function refusingDamage<Result>(read: () => Result): Result {
  try {
    return read()
  } catch (error) {
    throw error instanceof LedgerError ? error : broken('a record is not readable')
  }
}

/** Offset after the bracket that closes the array that starts at `start`. */
function endOfArray(data: Buffer, start: number): number {
  let depth = 0
  for (let at = start; at < data.length; at++) {
    const byte = data[at]
    if (byte === 0x22) at = endOfText(data, at)
    else if (byte === 0x5b) depth++
    else if (byte === 0x5d && --depth === 0) return at + 1
  }
  throw broken('a record is not readable')
}

/** Offset of the closing quote of the text whose opening quote is at `start`. */
function endOfText(data: Buffer, start: number): number {
  let at = start + 1
  while (at < data.length && data[at] !== 0x22) at += data[at] === 0x5c ? 2 : 1
  return at
}

function parseRecordJson(text: string): RecordArray {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw broken('a record is not readable')
  }
  if (Array.isArray(value)) return value
  throw broken('a record is not readable')
}

/** Every record of a call is decoded for the index, so without a spread that is not the first member: that is slow. */
function decisionEntry<Kind extends 'intent' | 'refusal'>(
  kind: Kind,
  seq: number,
  atMs: number,
  fields: RecordArray,
): DecisionEntry & { readonly kind: Kind; readonly seq: number } {
  const [limits, shadow, callId, id, principalKind, agent, session, server, method, name] = fields
  const [category, policy, action, code, rule, reason, guardrails, judged, argsDigest] =
    fields.slice(10)
  const [unknown, parent] = fields.slice(19)
  const decision: RecordedDecision = {
    action: action as Action,
    code,
    rule: text_(rule),
    reason: text_(reason),
    guardrails: guardrails.map(([name, rule, action, undecided]: RecordArray) => {
      const match = { name: text_(name), rule: text_(rule), undecided }
      return action === null ? match : { ...match, action }
    }),
    limits: limits.map(decodeCharge),
    shadow: shadow.map(([rule, action, code, reason, limits]: RecordArray) => ({
      rule: text_(rule),
      action,
      code,
      reason: text_(reason),
      limits: limits.map(decodeCharge),
    })),
  }
  const whoAndWhat = {
    kind,
    seq,
    atMs,
    callId: text_(callId),
    principal: { id: text_(id), kind: text_(principalKind) },
    agent: agent === null ? null : text_(agent),
    session: text_(session),
    server: text_(server),
    method: text_(method),
    name: text_(name),
    category: category as Category | null,
  }
  const entry = {
    ...(unknown === true ? { ...whoAndWhat, unknown } : whoAndWhat),
    policy: text_(policy),
    decision,
    judged: decodeInputs(judged),
    argsDigest,
  }
  return parent === undefined ? entry : { ...entry, parent }
}

function decodeCharge([key, kind, windowMs, max, amount]: RecordArray): LimitCharge {
  return { key, kind, windowMs, max: decodeDecimal(max), amount: decodeDecimal(amount) }
}

/** Decodes a decimal. The parser of core is not used, because a product of two amounts has more digits than an
 * amount may have. */
function decodeDecimal(text: string): Decimal {
  const point = text.indexOf('.')
  if (point < 0) return { units: BigInt(text), scale: 0 }
  return { units: BigInt(text.replace('.', '')), scale: text.length - point - 1 }
}

function decodeInputs(fields: 0 | RecordArray): DecisionInputs {
  if (fields === 0) return {}
  return Object.fromEntries(
    fields.map(([name, value]) => [
      text_(name),
      Array.isArray(value)
        ? new ExactNumber(value[0])
        : typeof value === 'object' && value !== null
          ? decodeText(value)
          : value,
    ]),
  )
}

function decodeText(value: TruncatedText | OmittedInput): string | OmittedInput {
  return 'is' in value ? { is: value.is } : text_(value)
}

interface TruncatedText {
  readonly cut: string
  readonly length: number
  readonly sha256: string
}

/** A truncated text is shown with what is known of the rest. */
function text_(value: string | TruncatedText): string {
  if (typeof value === 'string') return value
  return `${value.cut}… (${value.length} characters, sha256 ${value.sha256})`
}

function broken(message: string): LedgerError {
  return new LedgerError('LEDGER_BROKEN', message, '`sluice ledger verify` shows where')
}
