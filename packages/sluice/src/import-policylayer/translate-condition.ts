// One condition of the original as CEL, in two senses. `pass`: must be true, or the call is denied;
// whatever cannot be decided is denied, which is what the original does with a missing argument or
// another type. `match`: holds the call if true; there a missing argument does not match, as in
// the original, and another type does, where the original lets the call go.
// Invariant: `pass` is never true if the original is false; `match` is never false if it is true.

import { didYouMean } from '@sluice/policy/document/nearest'
import {
  findEntry,
  type LocatedMap,
  type LocatedNode,
  type LocatedScalar,
} from '@sluice/policy/document/read-document'
import { PATTERN_LENGTH_MAX } from '@sluice/policy/language/limits'
import { RE2JS } from 're2js'
import {
  type ArgumentPath,
  type CelValue,
  looksLikeOther,
  parseArgumentPath,
  presenceSteps,
  textLiteral,
  toValue,
} from './cel-text.ts'
import { isAmbiguous, readText } from './read-fields.ts'
import type { ImportReport } from './report.ts'

const OPERATORS = [
  'eq',
  'neq',
  'in',
  'not_in',
  'lt',
  'lte',
  'gt',
  'gte',
  'regex',
  'contains',
  'exists',
]
const COMPARISONS: Record<string, string> = { lt: '<', lte: '<=', gt: '>', gte: '>=' }

/** The expression; `never` where it can never be true; undefined after an error. */
export type TranslatedCondition = { readonly cel: string } | { readonly never: true } | undefined

export function translateCondition(
  map: LocatedMap,
  sense: ConditionSense,
  report: ImportReport,
): TranslatedCondition {
  const written = readText(map, 'path', report) ?? ''
  const path = parseArgumentPath(written)
  if (path === undefined)
    return report.error(
      'IMPORT_PATH',
      (findEntry(map, 'path') ?? map).at,
      `\`${written}\` is not a path to an argument that can be written here`,
      'write `args.<name>`, or the condition by hand',
    )
  const op = readText(map, 'op', report) ?? ''
  const node = findEntry(map, 'value')
  if (!OPERATORS.includes(op))
    return report.error(
      'IMPORT_OPERATOR',
      (findEntry(map, 'op') ?? map).at,
      `unknown operator \`${op}\``,
      didYouMean(op, OPERATORS),
    )
  const condition = new ConditionTranslator(path, op, {
    node: node ?? { ...NOTHING, at: map.at },
    sense,
    report,
  })
  return condition.translate()
}

const NOTHING: LocatedScalar = { kind: 'scalar', at: 0, contentAt: 0, value: null, text: '' }

interface ConditionContext {
  readonly node: LocatedNode
  readonly sense: ConditionSense
  readonly report: ImportReport
}

class ConditionTranslator {
  readonly #path: ArgumentPath
  readonly #x: string
  readonly #op: string
  readonly #node: LocatedNode
  readonly #sense: ConditionSense
  readonly #report: ImportReport

  constructor(path: ArgumentPath, op: string, { node, sense, report }: ConditionContext) {
    this.#path = path
    this.#x = path.cel
    this.#op = op
    this.#node = node
    this.#sense = sense
    this.#report = report
  }

  translate(): TranslatedCondition {
    if (this.#op === 'exists') return this.#exists()
    const answer = this.#compare()
    if (answer === undefined || 'never' in answer || this.#sense === 'pass') return answer
    if (!this.#path.askable) return this.#unaskable()
    this.#report.warn(
      'IMPORT_MISSING_PASSES',
      this.#node.at,
      `a call without \`${this.#x}\` is not held by this condition, as in the original`,
      'ask for the argument too if the server fills in a value of its own',
    )
    const steps = presenceSteps(this.#path)
    return { cel: [...steps, ...(answer.cel === 'true' ? [] : [answer.cel])].join(' && ') }
  }

  #compare(): TranslatedCondition {
    switch (this.#op) {
      case 'eq':
      case 'neq':
        return this.#equality()
      case 'in':
      case 'not_in':
        return this.#membership()
      case 'regex':
        return this.#regex()
      case 'contains':
        return this.#contains()
      default:
        return this.#order()
    }
  }

  #equality(): TranslatedCondition {
    const value = this.#scalarValue(this.#node)
    if (value === undefined) return undefined
    return this.#among([value], this.#op === 'eq')
  }

  #membership(): TranslatedCondition {
    if (this.#node.kind !== 'list') return this.#invalid('takes a list')
    const values: CelValue[] = []
    for (const item of this.#node.items) {
      const value = this.#scalarValue(item)
      if (value === undefined) return undefined
      if (!values.some((one) => one.cel === value.cel)) values.push(value)
    }
    if (values.length === 0) {
      if (this.#op === 'in') return { never: true }
      if (this.#sense === 'match') return { cel: 'true' }
      return this.#path.askable
        ? { cel: presenceSteps(this.#path).join(' && ') }
        : this.#unaskable()
    }
    const mixed = new Set(values.map((value) => value.kind)).size > 1
    const exactly = this.#op === 'in' ? this.#sense === 'pass' : this.#sense === 'match'
    if (mixed && !exactly)
      return this.#report.error(
        'IMPORT_VALUE',
        this.#node.at,
        `\`${this.#op}\` over values of several types, which the original compares as text`,
        'split it into one condition for each type',
      )
    return this.#among(values, this.#op === 'in')
  }

  #among(values: readonly CelValue[], wanted: boolean): TranslatedCondition {
    if (values.some(isLoose)) {
      if (wanted && this.#sense === 'pass') this.#warnLoose(values)
      if (wanted === (this.#sense === 'match')) this.#warnType()
    }
    return { cel: (wanted ? oneOf : noneOf)(this.#x, values, this.#sense) }
  }

  #order(): TranslatedCondition {
    const value = this.#scalarValue(this.#node)
    if (value === undefined) return undefined
    if (value.kind !== 'number') return this.#invalid('takes a number')
    if (this.#sense === 'match') this.#warnType()
    return { cel: `${this.#x} ${COMPARISONS[this.#op]} ${value.cel}` }
  }

  #regex(): TranslatedCondition {
    const value = this.#node.kind === 'scalar' ? this.#node.value : undefined
    if (typeof value !== 'string') return this.#invalid('takes a text')
    const help =
      'look-around and back-references are not part of RE2; shorten or split a long pattern'
    if (value.length > PATTERN_LENGTH_MAX)
      return this.#report.error(
        'IMPORT_PATTERN',
        this.#node.at,
        `a pattern of ${value.length} characters, the limit is ${PATTERN_LENGTH_MAX}`,
        help,
      )
    try {
      RE2JS.compile(value)
    } catch {
      return this.#report.error(
        'IMPORT_PATTERN',
        this.#node.at,
        `\`${value}\` is not a pattern of RE2`,
        help,
      )
    }
    if (this.#sense === 'match') this.#warnType()
    return { cel: `${this.#x}.matches(${textLiteral(value)})` }
  }

  #contains(): TranslatedCondition {
    const value = this.#scalarValue(this.#node)
    if (value === undefined) return undefined
    if (value.kind === 'text') {
      this.#report.warn(
        'IMPORT_TYPE_PASSES',
        this.#node.at,
        `the original also finds \`${value.text}\` as an entry of a list; here a list is held`,
        `where \`${this.#x}\` is a list, write \`${value.cel} in ${this.#x}\``,
      )
      return { cel: `${this.#x}.contains(${value.cel})` }
    }
    if (this.#sense === 'match')
      return this.#report.error(
        'IMPORT_VALUE',
        this.#node.at,
        '`contains` with a value that is not text compares entries as text',
        `write \`${this.#x}.exists(x, x == ${value.cel})\` by hand`,
      )
    this.#warnLoose([value])
    return { cel: `${this.#x}.exists(x, x == ${value.cel})` }
  }

  #exists(): TranslatedCondition {
    const value = this.#node.kind === 'scalar' ? this.#node.value : undefined
    if (typeof value !== 'boolean') return this.#invalid('takes `true` or `false`')
    if (!this.#path.askable) return this.#unaskable()
    const steps = presenceSteps(this.#path)
    if (value) return { cel: [...steps, `${this.#x} != null`].join(' && ') }
    return { cel: `(${[...steps.map((step) => `!${step}`), `${this.#x} == null`].join(' || ')})` }
  }

  #scalarValue(node: LocatedNode): CelValue | undefined {
    if (node.kind !== 'scalar' || node.value === null)
      return this.#report.error(
        'IMPORT_VALUE',
        node.at,
        `\`${this.#op}\` with a list, a mapping or nothing, which the original compares as text`,
        'write the condition by hand; for presence say `exists`',
      )
    if (isAmbiguous(node, this.#report)) return undefined
    const value = toValue(node)
    if (value !== undefined) return value
    return this.#report.error(
      'IMPORT_VALUE',
      node.at,
      `\`${node.text}\` is a number that cannot be compared exactly`,
      'write a plain decimal, or a whole number below 2^53',
    )
  }

  #invalid(wants: string): undefined {
    return this.#report.error(
      'IMPORT_INVALID',
      this.#node.at,
      `\`${this.#op}\` ${wants}`,
      'the original refuses this document; fix it there',
    )
  }

  #unaskable(): undefined {
    return this.#report.error(
      'IMPORT_PATH',
      this.#node.at,
      `\`has\` cannot ask for \`${this.#x}\``,
      'write the condition by hand',
    )
  }

  #warnLoose(values: readonly CelValue[]): void {
    const shown = values.find(isLoose) ?? values[0]
    this.#report.warn(
      'IMPORT_LOOSE_TYPES',
      this.#node.at,
      `the original compares as text: \`${shown?.cel}\` also equals the same thing written as another type`,
      `here \`${this.#x}\` must have the type that is written`,
    )
  }

  #warnType(): void {
    this.#report.warn(
      'IMPORT_TYPE_PASSES',
      this.#node.at,
      `\`${this.#x}\` of another type than the value passes this condition in the original`,
      'here it is held; nothing to do unless such calls were wanted',
    )
  }
}

/** `pass`: must be true, or the call is denied. `match`: holds the call if true. */
type ConditionSense = 'pass' | 'match'

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
