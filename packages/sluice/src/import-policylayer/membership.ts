// `x` is one of some values, or none of them, as CEL. The original compares what Go prints, so that
// 5 equals "5" and true equals "true". CEL does not; where that would let something through which
// the original holds, the expression is written so that another type cannot be decided.

import { type CelValue, looksLikeOther } from './cel-text.ts'

/** `pass`: must be true, or the call is denied. `match`: holds the call if true. */
export type ConditionSense = 'pass' | 'match'

/** Whether the original takes something of another type for equal to this value. */
export function isLoose(value: CelValue): boolean {
  return value.kind !== 'text' || looksLikeOther(value.text)
}

export function oneOf(x: string, values: readonly CelValue[], sense: ConditionSense): string {
  const plain = isIn(x, values)
  if (sense === 'pass' || !values.some(isLoose)) return plain
  const [first] = values as [CelValue]
  if (first.kind === 'text') return `(${plain} || !${x}.startsWith(""))`
  if (first.kind === 'bool') {
    if (values.length > 1) return `(${x} || !${x})`
    return first.bool ? x : `!${x}`
  }
  if (values.length === 1) return `!(${x} < ${first.cel} || ${x} > ${first.cel})`
  return `(${plain} || !(${x} < ${first.cel} || ${x} >= ${first.cel}))`
}

export function noneOf(x: string, values: readonly CelValue[], sense: ConditionSense): string {
  const [first] = values as [CelValue]
  const plain = values.length === 1 ? `${x} != ${first.cel}` : `!(${isIn(x, values)})`
  if (sense === 'match' || !values.some(isLoose)) return plain
  if (first.kind === 'text') return `${x}.startsWith("") && ${plain}`
  if (first.kind === 'bool') {
    if (values.length > 1) return `(${x} && !${x})`
    return first.bool ? `!${x}` : x
  }
  return values.map(({ cel }) => `(${x} < ${cel} || ${x} > ${cel})`).join(' && ')
}

function isIn(x: string, values: readonly CelValue[]): string {
  const [first] = values as [CelValue]
  if (values.length === 1) return `${x} == ${first.cel}`
  const whole = values.every((value) => value.kind === 'number' && Number.isInteger(value.number))
  if (whole || values.every((value) => value.kind === 'text'))
    return `${x} in [${values.map((value) => value.cel).join(', ')}]`
  return `(${values.map((value) => `${x} == ${value.cel}`).join(' || ')})`
}
