// Values of arguments that rules read, and that are therefore on record: in the query index by path, and as
// conditions such as `args.amount > 5000; args.currency = EUR`. Pure.

import type { DecisionInputs } from '@sluice/policy/core/decision-inputs'
import { ExactNumber } from '@sluice/policy/core/json'
import { InputError } from '@sluice/policy/core/operation-error'

/** A text that is longer is not indexed: it is read in the call itself. */
const INDEXED_LENGTH_MAX = 200

export interface ValueCondition {
  readonly path: string
  readonly operator: '=' | '<' | '<=' | '>' | '>='
  readonly value: number | string
}

const CONDITION = /^(args\.[^\s<>=!;\p{Cc}]+)\s*(<=|>=|==?|<|>)\s*([^\s=;\p{Cc}][^;\p{Cc}]*)$/u
const NUMBER = /^-?\d{1,300}(\.\d{1,300})?$/

/** Throws an InputError that names the condition that cannot be read. */
export function parseConditions(text = ''): ValueCondition[] {
  const parts = text.split(';').map((part) => part.trim())
  return parts.filter(Boolean).map((part) => {
    const [, path = '', written, value = ''] = CONDITION.exec(part) ?? []
    const operator = written === '==' ? '=' : written
    const isNumber = NUMBER.test(value)
    if (operator === undefined || (operator !== '=' && !isNumber))
      throw new InputError(
        `\`${part.slice(0, 100)}\` is no condition on a recorded value`,
        'write for example `args.amount > 5000`, or `args.currency = EUR`; several with `;`',
      )
    return {
      path,
      operator: operator as ValueCondition['operator'],
      value: isNumber ? Number(value) : value,
    }
  })
}

/** Numbers, truth values as `true` and `false`, and short texts. */
export function listIndexedValues(
  judged: DecisionInputs,
): [path: string, value: number | string][] {
  return Object.keys(judged).flatMap((path): [string, number | string][] => {
    if (!path.startsWith('args.')) return []
    const input = judged[path]
    const value = input instanceof ExactNumber ? Number(input.text) : input
    if (typeof value === 'boolean') return [[path, String(value)]]
    if (typeof value === 'number') return Number.isFinite(value) ? [[path, value]] : []
    const isShort = typeof value === 'string' && value.length <= INDEXED_LENGTH_MAX
    return isShort ? [[path, value]] : []
  })
}

/** The part of a condition that is about the value, in SQL. Every number is below every text. */
export function toValueSql({ operator, value }: ValueCondition, column: string): string {
  if (typeof value === 'string') return `${column} = '${value.replaceAll("'", "''")}'`
  return `${column} ${operator} ${value}${operator.startsWith('>') ? ` AND ${column} < ''` : ''}`
}

export function holdsFor(
  judged: DecisionInputs,
  { path, operator, value }: ValueCondition,
): boolean {
  const known = listIndexedValues(judged).find(([name]) => name === path)?.[1]
  if (known === undefined || typeof known !== typeof value) return false
  if (operator === '=') return known === value
  if (operator === '<') return known < value
  if (operator === '<=') return known <= value
  return operator === '>' ? known > value : known >= value
}
