// Calls in the order of a recorded value, and its sum over the calls that match. Both read the values of one
// path in parts, so that other questions are answered in between.

import type { DatabaseSync } from 'node:sqlite'
import { IS_COUNTED } from '@sluice/ledger/query/call-counts'
import {
  type CallSelection,
  type CallWithOutcome,
  type Query,
  readCalls,
  selectCalls,
  selectRecords,
} from '@sluice/ledger/query/query'
import type { RecordIndex } from '@sluice/ledger/query/record-index'
import { USUAL_WORDS } from '@sluice/ledger/records/files'
import { parseConditions, toValueSql } from '@sluice/ledger/records/recorded-values'
import { createRowReader, FLAG, NUMBER, TEXT, withDefault } from '@sluice/ledger/store/read-row'
import type { Steps } from '@sluice/policy/structures/steps'
import { splitRange } from './histogram.ts'
import { SUM_GROUPS_MAX, VALUES_SEARCHED_MS, VALUES_STEP } from './limits.ts'

export interface ValuePage {
  readonly calls: readonly CallWithOutcome[]
  /** `after` of the next page; null at the end. */
  readonly next: number | null
  /** The page is not full yet: so many values were looked at for this answer. */
  readonly looked?: number
}

interface ValueRow {
  readonly seq: number
  readonly isMatch: boolean
}

const readValueRow = createRowReader<ValueRow>({ seq: NUMBER, isMatch: FLAG })

/** By the value at `query.sort`; `after` is the number of the last call that was looked at. */
export function* readByValue(
  ledger: DatabaseSync,
  index: RecordIndex,
  { after, before: _, ...query }: Query,
  step = VALUES_STEP,
): Steps<ValuePage> {
  const { database } = index
  const selected = selectCalls(database, query)
  const path = database.prepare('SELECT id FROM words WHERE text = ?').get(query.sort ?? '')?.id
  if (selected === undefined || path === undefined) return { calls: [], next: null }
  const { found, from, where, values } = selectRecords(selected, selected.range)
  const own = parseConditions(query.where)
    .filter((one) => one.path === query.sort)
    .map((one) => `AND ${toValueSql(one, 'judged.value')}`)
    .join(' ')
  const [order, beyond] = query.order === 'smallest' ? ['ASC', '>'] : ['DESC', '<']
  const limit = query.limit ?? 100
  const sql = (isFirst: boolean) =>
    `${found} SELECT judged.seq AS seq, (${where.replace(/^WHERE /, '')}) AS isMatch FROM ${from}
      WHERE judged.path = ${path} ${own} ${
        isFirst
          ? ''
          : `AND (judged.value, judged.seq) ${beyond}
        (SELECT value, seq FROM judged AS last WHERE last.path = ${path} AND last.seq = ?)`
      }
      ORDER BY judged.value ${order}, judged.seq ${order} LIMIT ${step}`
  const numbers: number[] = []
  const untilMs = performance.now() + VALUES_SEARCHED_MS
  let last = after
  for (let looked = 0; ; ) {
    const rows = database
      .prepare(sql(last === undefined))
      .all(...values, ...(last === undefined ? [] : [last]))
      .map(readValueRow)
    for (const { seq, isMatch } of rows) {
      last = seq
      looked++
      if (isMatch && numbers.push(seq) === limit)
        return { calls: readCalls(ledger, index, numbers), next: seq }
    }
    const calls = () => readCalls(ledger, index, numbers)
    if (rows.length < step) return { calls: calls(), next: null }
    if (performance.now() > untilMs) return { calls: calls(), next: last ?? null, looked }
    yield
  }
}

const NO_CALLS = { calls: 0, sum: 0, allowed: 0, allowedSum: 0, min: 0, max: 0 }
export const SUMMED_BY = ['caller', 'approver'] as const

/** Of the numbers that matching calls have at one path; sums are double precision. */
export type RecordedSum = Readonly<typeof NO_CALLS> & {
  /** The largest sum of allowed calls first; absent unless asked for. A call with two approvers counts for both. */
  readonly groups?: readonly SumOfName[]
}

/** The same calls of one caller or approver. */
export interface SumOfName {
  readonly name: string
  readonly calls: number
  readonly sum: number
  readonly allowed: number
  readonly allowedSum: number
}

export interface SumRequest {
  readonly query: Query
  readonly by?: (typeof SUMMED_BY)[number] | undefined
}

const SUM = { calls: NUMBER, sum: withDefault(NUMBER, 0), allowed: NUMBER, allowedSum: NUMBER }
const readGroup = createRowReader<SumOfName>({ name: TEXT, ...SUM })
/** Without calls there is no smallest and no largest. */
const readPart = createRowReader<typeof NO_CALLS>({
  ...SUM,
  min: withDefault(NUMBER, 0),
  max: withDefault(NUMBER, 0),
})

const IS_ALLOWED = `calls.became = ${USUAL_WORDS.action}`

/** Of the numbers at `query.sort`. */
export function* readSum(
  { database }: RecordIndex,
  { query, by }: SumRequest,
  step = VALUES_STEP,
): Steps<RecordedSum> {
  const selected = selectCalls(database, query)
  const groups = new Map<string, SumOfName>()
  const total = { ...NO_CALLS, min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY }
  const ends = database
    .prepare('SELECT (SELECT min(seq) FROM calls) AS first, (SELECT max(seq) FROM calls) AS last')
    .get()
  if (selected !== undefined && ends?.first != null) {
    const first = Math.max(Number(ends.first), selected.range.first)
    const last = Math.min(Number(ends.last), selected.range.last)
    for (const range of splitRange({ first, last }, step)) {
      const { found, from, where, values } = selectRecords(selected, range)
      const row = database
        .prepare(
          `${found} SELECT count(*) AS calls, sum(value) AS sum, min(value) AS min, max(value) AS max,
            count(*) FILTER (WHERE ${IS_ALLOWED}) AS allowed,
            total(value) FILTER (WHERE ${IS_ALLOWED}) AS allowedSum
            FROM ${from} ${where} AND judged.value < '' AND calls.${IS_COUNTED}`,
        )
        .get(...values)
      const part = readPart(row ?? {})
      if (by !== undefined && part.calls > 0)
        addGroups(
          groups,
          database
            .prepare(sumBy(by, { found, from, where }))
            .all(...values)
            .map(readGroup),
        )
      yield
      if (part.calls === 0) continue
      total.calls += part.calls
      total.sum += part.sum
      total.allowed += part.allowed
      total.allowedSum += part.allowedSum
      total.min = Math.min(total.min, part.min)
      total.max = Math.max(total.max, part.max)
    }
  }
  if (total.calls === 0) return NO_CALLS
  if (by === undefined) return total
  const named = [...groups.values()].sort((one, other) => other.allowedSum - one.allowedSum)
  return { ...total, groups: named.slice(0, SUM_GROUPS_MAX) }
}

/** The values of matching calls for each caller, or for each tag that names an approver. */
function sumBy(
  by: (typeof SUMMED_BY)[number],
  { found, from, where }: Pick<CallSelection, 'found' | 'from' | 'where'>,
): string {
  const name = by === 'caller' ? 'w.text' : `substr(w.text, ${'approver:'.length + 1})`
  const joined =
    by === 'caller'
      ? 'JOIN words w ON w.id = calls.principal'
      : `JOIN words w ON w.text >= 'approver:' AND w.text < 'approver;'
          JOIN judged AS tag ON tag.path = w.id AND tag.seq = calls.seq`
  return `${found} SELECT ${name} AS name, count(*) AS calls, sum(judged.value) AS sum,
    count(*) FILTER (WHERE ${IS_ALLOWED}) AS allowed,
    total(judged.value) FILTER (WHERE ${IS_ALLOWED}) AS allowedSum
    FROM ${from} ${joined} ${where} AND judged.value < '' AND calls.${IS_COUNTED} GROUP BY 1`
}

function addGroups(groups: Map<string, SumOfName>, rows: readonly SumOfName[]): void {
  for (const row of rows) {
    const had = groups.get(row.name) ?? NO_CALLS
    groups.set(row.name, {
      name: row.name,
      calls: had.calls + row.calls,
      sum: had.sum + row.sum,
      allowed: had.allowed + row.allowed,
      allowedSum: had.allowedSum + row.allowedSum,
    })
  }
}
