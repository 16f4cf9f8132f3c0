// Decodes records, for queries, exports and restarts. What is not a record of a known version is a
// LedgerError that names its position; nothing is guessed.

import type { Action } from '@sluice/policy/calls/actions'
import { findPrice, type LimitCharge } from '@sluice/policy/calls/counters'
import type {
  DecisionInput,
  DecisionInputs,
  OmittedInput,
} from '@sluice/policy/calls/decision-inputs'
import type { Category } from '@sluice/policy/calls/tools'
import type { Decimal } from '@sluice/policy/values/decimal'
import { ExactNumber, type JsonValue } from '@sluice/policy/values/json'
import type { AnswerChange } from './answer-changes.ts'
import { ENCODING_VERSION, KINDS } from './encoding.ts'
import { LedgerError } from './errors.ts'
import { showNames } from './names.ts'
import type {
  DecisionEntry,
  DecisionRecord,
  LedgerRecord,
  RecordedDecision,
  Status,
} from './record.ts'

// The fields of records by place, as encoding.ts writes them. Nothing checks them before they are read: the hash of a
// record says that a gate wrote it.

type HeadFields = [version: number, seq: number, kind: number, atMs: number]
/** Where the charges of an intent or a refusal begin, and what an outcome or an event has instead. */
const BODY_AT = 4
type ChargesFields = [limits: ChargeFields[], shadow: ShadowFields[]]
const CALLER_AT = 6
type CallerFields = [
  callId: StoredText,
  principalId: StoredText,
  principalKind: StoredText,
  agent: StoredText | null,
  session: StoredText,
  server: StoredText,
  method: StoredText,
  name: StoredText,
  category: Category | null,
]
const VERDICT_AT = 15
type VerdictFields = [
  policy: StoredText,
  action: Action,
  code: string,
  rule: StoredText,
  reason: StoredText,
  guardrails: GuardrailFields[],
  judged: 0 | InputFields[],
  argsDigest: string | null,
  unknown?: boolean,
  parent?: string | null,
  approval?: string,
]
type OutcomeFields = [
  intent: number,
  status: Status,
  durationMs: number,
  bytes: number,
  errorCode: number | null,
  digest: string | null,
  labels: StoredText[],
  attempts: number,
  givenBack: boolean,
  changes?: ChangeFields[],
]
type EventFields = [name: StoredText, detail: JsonValue]
type ChargeFields = [
  key: string,
  kind: LimitCharge['kind'],
  windowMs: number,
  max: string,
  amount: string,
]
type ShadowFields = [
  rule: StoredText,
  action: Action,
  code: string,
  reason: StoredText,
  limits: ChargeFields[],
]
type GuardrailFields = [
  name: StoredText,
  rule: StoredText,
  action: Action | null,
  undecided: boolean,
]
type ChangeFields = [change: AnswerChange['change'], kind: StoredText, count: number]
type InputFields = [name: StoredText, value: StoredInput]
type StoredText = string | TruncatedText
/** An array has the text of a number that no double represents. */
type StoredInput = StoredText | number | boolean | null | OmittedInput | [number: string]

interface TruncatedText {
  readonly cut: string
  readonly length: number
  readonly sha256: string
}

export function decode(text: string): LedgerRecord {
  const fields = parseRecordJson(text)
  return refusingDamage(() => toRecord(fields))
}

function toRecord(fields: unknown[]): LedgerRecord {
  const [version, seq, kind, atMs] = fields as HeadFields
  if (version !== ENCODING_VERSION)
    throw broken(`record ${seq} has version \`${version}\`, this program reads ${ENCODING_VERSION}`)
  switch (kind) {
    case KINDS.intent:
    case KINDS.refusal:
      return decodeDecision(fields)
    case KINDS.outcome:
      return decodeOutcome(seq, atMs, fields.slice(BODY_AT) as OutcomeFields)
    case KINDS.event: {
      const [name, detail] = fields.slice(BODY_AT) as EventFields
      return { kind: 'event', seq, atMs, name: decodeText(name), detail }
    }
    default:
      throw broken(`record ${seq} is of no known kind (\`${kind}\`)`)
  }
}

function decodeOutcome(seq: number, atMs: number, body: OutcomeFields): LedgerRecord {
  const [intent, status, durationMs, bytes, errorCode, digest, labels, ...last] = body
  const [attempts, givenBack, changes = []] = last
  return {
    kind: 'outcome',
    seq,
    intent,
    atMs,
    status,
    durationMs,
    bytes,
    errorCode,
    digest,
    labels: labels.map(decodeText),
    attempts,
    givenBack,
    changes: changes.map(([change, kind, count]) => ({ change, kind: decodeText(kind), count })),
  }
}

/** The part of a call that a restart needs. */
export interface RestoredCall
  extends Pick<DecisionEntry, 'atMs' | 'session' | 'server' | 'method' | 'name'> {
  readonly kind: 'intent' | 'refusal'
  readonly seq: number
  /** What it cost, if a limit has a price for it. */
  readonly price: Decimal | undefined
}

/** Decodes the call of an intent or a refusal. */
export function decodeCall(text: string): RestoredCall {
  const fields = parseRecordJson(text)
  const [version, seq, kind] = fields as HeadFields
  if (version !== ENCODING_VERSION || (kind !== KINDS.intent && kind !== KINDS.refusal))
    throw broken(`record ${seq} is not a call`)
  return refusingDamage(() => {
    const { kind, seq, atMs, session, server, method, name } = decodeCaller(fields)
    const [limits] = fields.slice(BODY_AT) as ChargesFields
    const price = findPrice(limits.map(decodeCharge))
    return { kind, seq, atMs, session, server, method, name, price }
  })
}

/**
 * The charges of an intent, including shadow rules. `at` is where its fifth field starts; nothing
 * after the sixth is read.
 */
export function decodeCharges(data: Buffer, at: number): LimitCharge[] {
  const middle = endOfArray(data, at)
  const end = endOfArray(data, middle + 1)
  if (end - at === '[],[]'.length) return []
  const text = showNames(data.toString('utf8', at, end), () => undefined)
  const [limits, shadow] = parseRecordJson(`[${text}]`) as ChargesFields
  return refusingDamage(() => [
    ...limits.map(decodeCharge),
    ...shadow.flatMap(([, , , , charges]) => charges.map(decodeCharge)),
  ])
}

/** A field that is not what its place says is damage. */
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

function parseRecordJson(text: string): unknown[] {
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
function decodeDecision(fields: unknown[]): DecisionRecord {
  const [limits, shadow] = fields.slice(BODY_AT) as ChargesFields
  const [policy, action, code, rule, reason, guardrails, judged, argsDigest, ...last] =
    fields.slice(VERDICT_AT) as VerdictFields
  const [unknown, parent, approval] = last
  const decision: RecordedDecision = {
    action,
    code,
    rule: decodeText(rule),
    reason: decodeText(reason),
    guardrails: guardrails.map(([name, rule, action, undecided]) => {
      const match = { name: decodeText(name), rule: decodeText(rule), undecided }
      return action === null ? match : { ...match, action }
    }),
    limits: limits.map(decodeCharge),
    shadow: shadow.map(([rule, action, code, reason, limits]) => ({
      rule: decodeText(rule),
      action,
      code,
      reason: decodeText(reason),
      limits: limits.map(decodeCharge),
    })),
  }
  const whoAndWhat = decodeCaller(fields)
  const entry = {
    ...(unknown === true ? { ...whoAndWhat, unknown } : whoAndWhat),
    policy: decodeText(policy),
    decision,
    judged: decodeInputs(judged),
    argsDigest,
  }
  // Without a parent there is nothing, or null before an approval.
  const call = parent == null ? entry : { ...entry, parent }
  return approval === undefined ? call : { ...call, approval }
}

function decodeCaller(fields: unknown[]) {
  const [, seq, kind, atMs] = fields as HeadFields
  const [callId, id, principalKind, agent, session, server, method, name, category] = fields.slice(
    CALLER_AT,
    VERDICT_AT,
  ) as CallerFields
  return {
    kind: kind === KINDS.intent ? ('intent' as const) : ('refusal' as const),
    seq,
    atMs,
    callId: decodeText(callId),
    principal: { id: decodeText(id), kind: decodeText(principalKind) },
    agent: agent === null ? null : decodeText(agent),
    session: decodeText(session),
    server: decodeText(server),
    method: decodeText(method),
    name: decodeText(name),
    category,
  }
}

function decodeCharge([key, kind, windowMs, max, amount]: ChargeFields): LimitCharge {
  return { key, kind, windowMs, max: decodeDecimal(max), amount: decodeDecimal(amount) }
}

/** Decodes a decimal. `parseDecimal` is not used, because a product of two amounts has more digits than an
 * amount may have. */
function decodeDecimal(text: string): Decimal {
  const point = text.indexOf('.')
  if (point < 0) return { units: BigInt(text), scale: 0 }
  return { units: BigInt(text.replace('.', '')), scale: text.length - point - 1 }
}

function decodeInputs(fields: 0 | InputFields[]): DecisionInputs {
  if (fields === 0) return {}
  return Object.fromEntries(fields.map(([name, value]) => [decodeText(name), decodeInput(value)]))
}

function decodeInput(value: StoredInput): DecisionInput {
  if (Array.isArray(value)) return new ExactNumber(value[0])
  if (typeof value !== 'object' || value === null) return value
  return 'is' in value ? { is: value.is } : decodeText(value)
}

/** A truncated text is shown with what is known of the rest. */
function decodeText(value: StoredText): string {
  if (typeof value === 'string') return value
  if (typeof value?.cut !== 'string' || typeof value.length !== 'number')
    throw broken(`a record has \`${JSON.stringify(value)}\` in the place of a text`)
  return `${value.cut}… (${value.length} characters, sha256 ${value.sha256})`
}

function broken(message: string): LedgerError {
  return new LedgerError('LEDGER_BROKEN', message, '`sluice ledger verify` shows where')
}
