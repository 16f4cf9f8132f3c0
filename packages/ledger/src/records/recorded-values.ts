// Values of arguments that rules read, and that are therefore on record: in the query index by path, and as
// conditions such as `args.amount > 5000; args.currency = EUR`. Beside them tags of a call: who approved it, which
// labels its answer brought, and what was redacted of it, as `approver:ada`. Pure.

import { groupsOf } from '@sluice/guard/data-detectors'
import { DATA_KINDS } from '@sluice/policy/calls/data-kinds'
import type { DecisionInputs } from '@sluice/policy/calls/decision-inputs'
import { InputError } from '@sluice/policy/structures/operation-error'
import { ExactNumber } from '@sluice/policy/values/json'
import type { AnswerChange } from './answer-changes.ts'
import type { DecisionRecord } from './record.ts'

/** A text that is longer is not indexed: it is read in the call itself. */
const INDEXED_LENGTH_MAX = 200

export interface ValueCondition {
  readonly path: string
  /** `has`: the path is a tag. */
  readonly operator: '=' | '<' | '<=' | '>' | '>=' | 'has'
  readonly value: number | string
}

export const TAGS = ['approver', 'label', 'redacted'] as const
export type Tag = (typeof TAGS)[number]
const TAG = /^(?:approver|label|redacted):[^;\p{Cc}]+$/u
const CONDITION = /^(args\.[^\s<>=!;\p{Cc}]+)\s*(<=|>=|==?|<|>)\s*([^\s=;\p{Cc}][^;\p{Cc}]*)$/u
const NUMBER = /^-?\d{1,300}(\.\d{1,300})?$/

/** Throws an InputError that names the condition that cannot be read. */
export function parseConditions(text = ''): ValueCondition[] {
  const parts = text.split(';').map((part) => part.trim())
  return parts.filter(Boolean).map((part) => {
    if (TAG.test(part)) return { path: toRecordedTag(part), operator: 'has', value: '' }
    const [, path = '', written, value = ''] = CONDITION.exec(part) ?? []
    const operator = written === '==' ? '=' : written
    const isNumber = NUMBER.test(value)
    if (operator === undefined || (operator !== '=' && !isNumber))
      throw new InputError(
        `\`${part.slice(0, 100)}\` is no condition on a recorded value`,
        'write for example `args.amount > 5000`, `args.currency = EUR` or `approver:ada`; several with `;`',
      )
    return {
      path,
      operator: operator as ValueCondition['operator'],
      value: isNumber ? Number(value) : value,
    }
  })
}

/** A policy names the kind of data (`card`), and a record what was found (`card number`). A `secret` is one of many. */
function toRecordedTag(tag: string): string {
  const named = groupsOf(DATA_KINDS.filter((kind) => tag === `redacted:${kind}`))
  const [found, ...others] = named.flatMap(({ detectors }) => detectors)
  return found === undefined || others.length > 0 ? tag : `redacted:${found.kind}`
}

/** Who approved a call, from the reason of its record. */
export function listApprovers({ code, reason }: { code: string; reason: string }): string[] {
  const by = code === 'APPROVED' ? /^approved by (.+) \([^()]*\)/.exec(reason)?.[1] : undefined
  return by?.split(', ') ?? []
}

/** Lists the tags that the record of a call has. */
export function listCallTags(decision: { code: string; reason: string }): [string, string][] {
  return listApprovers(decision).map((name) => [`approver:${name}`, 'true'])
}

/** Lists the tags that the record of an outcome adds to its call; a redaction counts how many parts were changed. */
export function listOutcomeTags({
  labels,
  changes = [],
}: {
  readonly labels: readonly string[]
  readonly changes?: readonly AnswerChange[] | undefined
}): [path: string, value: number | string][] {
  const counts = new Map<string, number>()
  for (const { kind, count } of changes) {
    const path = `redacted:${kind}`
    counts.set(path, (counts.get(path) ?? 0) + count)
  }
  return [...labels.map((label): [string, string] => [`label:${label}`, 'true']), ...counts]
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
  if (operator === 'has') return 'true'
  if (typeof value === 'string') return `${column} = '${value.replaceAll("'", "''")}'`
  return `${column} ${operator} ${value}${operator.startsWith('>') ? ` AND ${column} < ''` : ''}`
}

export function holdsFor(
  { judged, decision }: Pick<DecisionRecord, 'judged' | 'decision'>,
  { path, operator, value }: ValueCondition,
): boolean {
  if (operator === 'has') {
    if (path.startsWith('approver:')) return listCallTags(decision).some(([tag]) => tag === path)
    throw new InputError(
      `\`${path}\` is not in the record of a call, and is found with the index alone`,
      'look in the console, or export a line for each call',
    )
  }
  const known = listIndexedValues(judged).find(([name]) => name === path)?.[1]
  if (known === undefined || typeof known !== typeof value) return false
  if (operator === '=') return known === value
  if (operator === '<') return known < value
  if (operator === '<=') return known <= value
  return operator === '>' ? known > value : known >= value
}
