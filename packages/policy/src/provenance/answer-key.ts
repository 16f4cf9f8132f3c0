// By which arguments an earlier answer is found, and how a field of it is reached: by names alone. Used where
// answers are remembered and where `last(...)` is evaluated, so that both agree.

import type { AnswerScalar } from '../calls/answer-values.ts'
import { formatDecimal, toDecimal } from '../values/decimal.ts'
import { ExactNumber, type JsonValue } from '../values/json.ts'
import { ANSWER_VALUE_LENGTH_MAX } from './limits.ts'

/** The arguments of a call as one text, equal for equal values; undefined if one is not a plain value. */
export function toAnswerKey(values: readonly (JsonValue | undefined)[]): string | undefined {
  let key = ''
  for (const value of values) {
    const part = toKeyPart(value)
    if (part === undefined) return undefined
    // With its length, so that no value can pass for two.
    key += `${part.length}:${part}`
  }
  return key
}

function toKeyPart(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'string')
    return value.length <= ANSWER_VALUE_LENGTH_MAX ? `"${value}` : undefined
  if (typeof value === 'boolean') return String(value)
  if (typeof value !== 'number' && !(value instanceof ExactNumber)) return undefined
  const decimal = toDecimal(value)
  return decimal === undefined ? undefined : formatDecimal(decimal)
}

export function isAnswerScalar(value: JsonValue | undefined): value is AnswerScalar {
  if (value === undefined) return false
  return typeof value !== 'object' || value === null || value instanceof ExactNumber
}
