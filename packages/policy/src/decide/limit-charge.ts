// What a call charges to a limit: the counter's key and the amount. Keys are injective (every part
// is length-prefixed), so that no caller can spell its way into or out of another's counter.

import type { Call, Facts } from '../calls/call.ts'
import type { LimitCharge } from '../calls/counters.ts'
import {
  BOOLEAN,
  type DeclaredType,
  findDeclared,
  INTEGER,
  NUMBER,
  STRING,
} from '../expression/evaluate/declared-types.ts'
import type { EvaluationContext } from '../expression/evaluate/evaluate.ts'
import { describeUnread, findLast } from '../expression/evaluate/find-last.ts'
import type { LastRead } from '../expression/read-last.ts'
import { pathText } from '../language/argument-path.ts'
import { KEY_PART_LENGTH_MAX, REMEMBERED_KEYS_MAX } from '../language/limits.ts'
import type { Amount, CounterScope, Limit } from '../model/rule.ts'
import { partText } from '../model/rule.ts'
import { type Decimal, formatDecimal, multiplyDecimal, ONE, toDecimal } from '../values/decimal.ts'
import { ExactNumber, getMember, type JsonObject, type JsonValue } from '../values/json.ts'

export type ChargeResult = { readonly take: LimitCharge } | DeniedCharge

export interface DeniedCharge {
  readonly take?: undefined
  readonly denial: string
  /** The denial says which call to make first. */
  readonly isAdvice?: true
}

type ChargeContext = Pick<EvaluationContext, 'call' | 'facts' | 'now'>

export function toLimitCharge(
  limit: Limit,
  context: ChargeContext,
  declared: DeclaredType,
  shadow: boolean,
): ChargeResult {
  const { call, facts } = context
  let parts = ''
  for (const part of limit.per) {
    const value = partValue(part, call, facts, declared)
    if (value === undefined)
      return { denial: `the limit needs \`${partText(part)}\` to be a plain value` }
    parts = limit.per.length === 1 ? value : `${parts}|${value.length}:${value}`
  }
  const key = toCounterKey(limit, parts, shadow)
  const amount = limit.amount === undefined ? ONE : computeAmount(limit.amount, call.args)
  if (typeof amount === 'string') return { denial: amount }
  const max = limit.maxOf === undefined ? limit.max : findMaximum(limit.maxOf.read, context)
  if ('denial' in max) return max
  return { take: { key, kind: limit.kind, windowMs: limit.windowMs, max, amount } }
}

/** The field that is the maximum, or why there is none. */
function findMaximum(read: LastRead, { call, facts, now }: ChargeContext): Decimal | DeniedCharge {
  const context = { args: call.args, facts, now }
  const found = findLast(read, context)
  if (typeof found === 'string') return { denial: describeUnread(read, context), isAdvice: true }
  const decimal = found.value === null ? undefined : toDecimal(found.value)
  if (decimal !== undefined && decimal.units >= 0n) return decimal
  const name = `\`${read.field.join('.')}\` of the last answer of \`${read.tool}\``
  return { denial: `${name}, which is the maximum, is not a plain decimal` }
}

/**
 * One string object per counter, as far as cached: its hash is then computed once, which saves a
 * third of a decision.
 */
function toCounterKey(limit: Limit, parts: string, shadow: boolean): string {
  const known = limit.keys.get(parts)
  if (known !== undefined && !shadow) return known
  const key =
    limit.per.length === 1 ? `${limit.id}|${parts.length}:${parts}` : `${limit.id}${parts}`
  if (shadow) return `shadow:${key}`
  if (limit.keys.size >= REMEMBERED_KEYS_MAX) limit.keys.clear()
  limit.keys.set(parts, key)
  return key
}

function partValue(
  part: CounterScope,
  call: Call,
  facts: Facts,
  declared: DeclaredType,
): string | undefined {
  switch (part.by) {
    case 'everyone':
      return ''
    case 'session':
      return facts.session.id
    case 'principal':
      return facts.principal.id
    case 'agent':
      return facts.agent === null ? `session ${facts.session.id}` : `agent ${facts.agent.id}`
    case 'server':
      return call.server
    case 'tool':
      return `${call.server}/${call.name}`
    default:
      return argumentKey(getMember(call.args, part.path), findDeclared(declared, part.path))
  }
}

/**
 * A scalar of the declared kind in canonical form: `5` and `5.0` are one counter, `"5"` is another.
 */
function argumentKey(
  value: JsonValue | undefined,
  declared: DeclaredType | undefined,
): string | undefined {
  const kinds = declared?.kinds ?? 127
  if (typeof value === 'string')
    return (kinds & STRING) !== 0 && value.length <= KEY_PART_LENGTH_MAX ? `"${value}` : undefined
  if (typeof value === 'boolean') return (kinds & BOOLEAN) !== 0 ? String(value) : undefined
  if (typeof value !== 'number' && !(value instanceof ExactNumber)) return undefined
  const decimal = toDecimal(value)
  if (decimal === undefined || (kinds & (INTEGER | NUMBER)) === 0) return undefined
  const text = formatDecimal(decimal)
  return (kinds & NUMBER) === 0 && text.includes('.') ? undefined : text
}

/** Reads the amount of a call, or says why it has none. */
function computeAmount(amount: Amount, args: JsonObject): Decimal | string {
  let product = ONE
  for (const factor of amount.factors) {
    if ('units' in factor) {
      product = multiplyDecimal(product, factor)
      continue
    }
    const value = getMember(args, factor)
    const decimal = toDecimal(value)
    if (value === undefined) return `the amount \`${pathText(factor)}\` is missing`
    if (decimal === undefined) return `the amount \`${pathText(factor)}\` is not a plain decimal`
    if (decimal.units < 0n) return `the amount \`${pathText(factor)}\` is negative`
    product = multiplyDecimal(product, decimal)
  }
  return product
}
