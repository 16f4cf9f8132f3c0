// One condition of the original as CEL, in two senses. `pass`: must be true, or the call is denied;
// whatever cannot be decided is denied, which is what the original does with a missing argument or
// another type. `match`: holds the call if true; there a missing argument does not match, as in
// the original, and another type does, where the original lets the call go.
// Invariant: `pass` is never true if the original is false; `match` is never false if it is true.

import { didYouMean } from '@sluice/policy/document/nearest'
import type { LocatedNode } from '@sluice/policy/document/read-document'
import { PATTERN_LENGTH_MAX } from '@sluice/policy/language/limits'
import { RE2JS } from 're2js'
import {
  type ArgumentPath,
  type CelValue,
  looksLikeOther,
  presenceSteps,
  readArgumentPath,
  textLiteral,
  toValue,
} from './cel-text.ts'
import type { ImportCode } from './errors.ts'
import { type Fields, isAmbiguous } from './fields.ts'
import type { ImportReport } from './report.ts'

/** The expression, `NEVER` if it can never be true; undefined after an error. */
type TranslatedCondition = string | undefined
export const NEVER = 'false'

/** `pass`: must be true, or the call is denied. `match`: holds the call if true. */
type ConditionSense = 'pass' | 'match'

interface Condition {
  readonly path: ArgumentPath
  /** The path as CEL. */
  readonly x: string
  readonly op: string
  /** The value. */
  readonly node: LocatedNode
  readonly sense: ConditionSense
  readonly report: ImportReport
}

const OPERATORS: Readonly<Record<string, (condition: Condition) => TranslatedCondition>> = {
  eq: (condition) => translateEquality(condition, true),
  neq: (condition) => translateEquality(condition, false),
  in: (condition) => translateMembership(condition, true),
  not_in: (condition) => translateMembership(condition, false),
  lt: (condition) => translateOrder(condition, '<'),
  lte: (condition) => translateOrder(condition, '<='),
  gt: (condition) => translateOrder(condition, '>'),
  gte: (condition) => translateOrder(condition, '>='),
  regex: translatePattern,
  contains: translateContains,
  exists: translateExists,
}

export function translateCondition(fields: Fields, sense: ConditionSense): TranslatedCondition {
  const { report, map } = fields
  const path = readArgumentPath(fields.text('path') ?? '', (fields.node('path') ?? map).at, report)
  if (path === undefined) return undefined
  const op = fields.text('op') ?? ''
  const translate = Object.hasOwn(OPERATORS, op) ? OPERATORS[op] : undefined
  if (translate === undefined) {
    const help = didYouMean(op, Object.keys(OPERATORS))
    const { at } = fields.node('op') ?? map
    return report.error('IMPORT_OPERATOR', at, `unknown operator \`${op}\``, help)
  }
  const nothing = { kind: 'scalar', at: map.at, contentAt: 0, value: null, text: '' } as const
  const node = fields.node('value') ?? nothing
  const condition = { path, x: path.cel, op, node, sense, report }
  const answer = translate(condition)
  const isFinal = sense === 'pass' || op === 'exists' || answer === NEVER
  return answer === undefined || isFinal ? answer : ifPresent(condition, answer)
}

/** In the sense of `match`: a call without the argument is not held. */
function ifPresent(condition: Condition, cel: string): TranslatedCondition {
  const { path, x, node, report } = condition
  if (!path.askable) return refuseUnaskable(condition)
  const message = `a call without \`${x}\` is not held by this condition, as in the original`
  const help = 'ask for the argument too if the server fills in a value of its own'
  report.warn('IMPORT_MISSING_PASSES', node.at, message, help)
  return [...presenceSteps(path), ...(cel === 'true' ? [] : [cel])].join(' && ')
}

function translateEquality(condition: Condition, isWanted: boolean): TranslatedCondition {
  const value = readScalar(condition)
  return value && among(condition, [value], isWanted)
}

function translateMembership(condition: Condition, isWanted: boolean): TranslatedCondition {
  const { node, sense, path, op } = condition
  if (node.kind !== 'list')
    return fail(condition, 'IMPORT_INVALID', `\`${condition.op}\` takes a list`)
  const values: CelValue[] = []
  for (const item of node.items) {
    const value = readScalar(condition, item)
    if (value === undefined) return undefined
    if (!values.some((one) => one.cel === value.cel)) values.push(value)
  }
  if (values.length === 0) {
    if (isWanted) return NEVER
    if (sense === 'match') return 'true'
    return path.askable ? presenceSteps(path).join(' && ') : refuseUnaskable(condition)
  }
  const isMixed = new Set(values.map((value) => value.kind)).size > 1
  if (!isMixed || isWanted === (sense === 'pass')) return among(condition, values, isWanted)
  const message = `\`${op}\` over values of several types, which the original compares as text`
  return fail(condition, 'IMPORT_VALUE', message, 'split it into one condition for each type')
}

function among(condition: Condition, values: readonly CelValue[], isWanted: boolean): string {
  const { x, sense } = condition
  if (values.some(isLoose)) {
    if (isWanted && sense === 'pass') warnLoose(condition, values)
    if (isWanted === (sense === 'match')) warnType(condition)
  }
  return (isWanted ? oneOf : noneOf)(x, values, sense)
}

function translateOrder(condition: Condition, sign: string): TranslatedCondition {
  const value = readScalar(condition)
  if (value === undefined) return undefined
  if (value.kind !== 'number')
    return fail(condition, 'IMPORT_INVALID', `\`${condition.op}\` takes a number`)
  if (condition.sense === 'match') warnType(condition)
  return `${condition.x} ${sign} ${value.cel}`
}

function translatePattern(condition: Condition): TranslatedCondition {
  const { node, sense, x } = condition
  const value = node.kind === 'scalar' ? node.value : undefined
  if (typeof value !== 'string')
    return fail(condition, 'IMPORT_INVALID', `\`${condition.op}\` takes a text`)
  const problem = patternProblem(value)
  const help =
    'look-around and back-references are not part of RE2; shorten or split a long pattern'
  if (problem !== undefined) return fail(condition, 'IMPORT_PATTERN', problem, help)
  if (sense === 'match') warnType(condition)
  return `${x}.matches(${textLiteral(value)})`
}

function patternProblem(pattern: string): string | undefined {
  if (pattern.length > PATTERN_LENGTH_MAX)
    return `a pattern of ${pattern.length} characters, the limit is ${PATTERN_LENGTH_MAX}`
  try {
    RE2JS.compile(pattern)
    return undefined
  } catch {
    return `\`${pattern}\` is not a pattern of RE2`
  }
}

function translateContains(condition: Condition): TranslatedCondition {
  const { x, node, sense, report } = condition
  const value = readScalar(condition)
  if (value === undefined) return undefined
  if (value.kind === 'text') {
    const message = `the original also finds \`${value.text}\` as an entry of a list; here a list is held`
    const help = `where \`${x}\` is a list, write \`${value.cel} in ${x}\``
    report.warn('IMPORT_TYPE_PASSES', node.at, message, help)
    return `${x}.contains(${value.cel})`
  }
  const cel = `${x}.exists(x, x == ${value.cel})`
  const message = '`contains` with a value that is not text compares entries as text'
  if (sense === 'match') return fail(condition, 'IMPORT_VALUE', message, `write \`${cel}\` by hand`)
  warnLoose(condition, [value])
  return cel
}

function translateExists(condition: Condition): TranslatedCondition {
  const { node, path, x } = condition
  const value = node.kind === 'scalar' ? node.value : undefined
  if (typeof value !== 'boolean')
    return fail(condition, 'IMPORT_INVALID', `\`${condition.op}\` takes \`true\` or \`false\``)
  if (!path.askable) return refuseUnaskable(condition)
  const steps = presenceSteps(path)
  if (value) return [...steps, `${x} != null`].join(' && ')
  return `(${[...steps.map((step) => `!${step}`), `${x} == null`].join(' || ')})`
}

function readScalar(condition: Condition, node = condition.node): CelValue | undefined {
  const { op, report } = condition
  if (node.kind !== 'scalar' || node.value === null) {
    const message = `\`${op}\` with a list, a mapping or nothing, which the original compares as text`
    const help = 'write the condition by hand; for presence say `exists`'
    return report.error('IMPORT_VALUE', node.at, message, help)
  }
  if (isAmbiguous(node, report)) return undefined
  const value = toValue(node)
  const message = `\`${node.text}\` is a number that cannot be compared exactly`
  const help = 'write a plain decimal, or a whole number below 2^53'
  return value ?? report.error('IMPORT_VALUE', node.at, message, help)
}

function fail(
  { node, report }: Condition,
  code: ImportCode,
  message: string,
  help?: string,
): undefined {
  return report.error(code, node.at, message, help)
}

function refuseUnaskable(condition: Condition): undefined {
  const message = `\`has\` cannot ask for \`${condition.x}\``
  return fail(condition, 'IMPORT_PATH', message, 'write the condition by hand')
}

function warnLoose({ x, node, report }: Condition, values: readonly CelValue[]): void {
  const shown = values.find(isLoose) ?? values[0]
  const message = `the original compares as text: \`${shown?.cel}\` also equals the same thing written as another type`
  const help = `here \`${x}\` must have the type that is written`
  report.warn('IMPORT_LOOSE_TYPES', node.at, message, help)
}

function warnType({ x, node, report }: Condition): void {
  const message = `\`${x}\` of another type than the value passes this condition in the original`
  const help = 'here it is held; nothing to do unless such calls were wanted'
  report.warn('IMPORT_TYPE_PASSES', node.at, message, help)
}

/** Whether the original takes something of another type for equal to this value. */
function isLoose(value: CelValue): boolean {
  return value.kind !== 'text' || looksLikeOther(value.text)
}

function oneOf(x: string, values: readonly CelValue[], sense: ConditionSense): string {
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

function noneOf(x: string, values: readonly CelValue[], sense: ConditionSense): string {
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
