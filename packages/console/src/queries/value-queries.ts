// Calls in the order of a recorded value, and its sums over the calls that match. Both read the values of one
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
import { createRowReader, FLAG, NUMBER, TEXT } from '@sluice/ledger/store/read-row'
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

export const SUMMED_BY = ['caller', 'approver'] as const

/** Of the numbers that matching calls have at one path. Amounts of different currencies are never added. */
export interface RecordedSum {
  /** One for each currency, that of the most calls first; empty without calls. */
  readonly currencies: readonly SumOfCurrency[]
  /** For each name and currency, the largest sum of allowed calls first; absent unless asked for. A call with two approvers counts for both. */
  readonly groups?: readonly SumOfName[]
}

/** Sums are double precision. */
export interface SumOfCurrency {
  /** On record beside the number, as `args.currency` beside `args.amount`; empty if there is none. */
  readonly currency: string
  readonly calls: number
  readonly sum: number
  readonly min: number
  readonly max: number
  readonly allowed: number
  readonly allowedSum: number
}

/** The same calls of one caller or approver. */
export interface SumOfName extends SumOfCurrency {
  readonly name: string
}

export interface SumRequest {
  readonly query: Query
  readonly by?: (typeof SUMMED_BY)[number] | undefined
}

const readGroup = createRowReader<SumOfName>({
  name: TEXT,
  currency: TEXT,
  calls: NUMBER,
  sum: NUMBER,
  min: NUMBER,
  max: NUMBER,
  allowed: NUMBER,
  allowedSum: NUMBER,
})

const IS_ALLOWED = `calls.became = ${USUAL_WORDS.action}`

/** Of the numbers at `query.sort`. */
export function* readSum(
  { database }: RecordIndex,
  { query, by }: SumRequest,
  step = VALUES_STEP,
): Steps<RecordedSum> {
  const selected = selectCalls(database, query)
  const whole = new Map<string, SumOfName>()
  const groups = new Map<string, SumOfName>()
  const ends = database
    .prepare('SELECT (SELECT min(seq) FROM calls) AS first, (SELECT max(seq) FROM calls) AS last')
    .get()
  if (selected !== undefined && ends?.first != null) {
    const currency = findCurrency(database, query.sort ?? '')
    const first = Math.max(Number(ends.first), selected.range.first)
    const last = Math.min(Number(ends.last), selected.range.last)
    for (const range of splitRange({ first, last }, step)) {
      const selection = selectRecords(selected, range)
      const read = (of: keyof typeof CALLS_OF) => {
        const sql = sumCalls(selection, CALLS_OF[of], currency)
        return database
          .prepare(sql)
          .all(...selection.values)
          .map(readGroup)
      }
      addSums(whole, read('all'))
      if (by !== undefined && whole.size > 0) addSums(groups, read(by))
      yield
    }
  }
  const currencies = [...whole.values()]
    .sort((one, other) => other.calls - one.calls)
    .map(({ name: _, ...sum }) => sum)
  if (by === undefined || currencies.length === 0) return { currencies }
  const named = [...groups.values()].sort((one, other) => other.allowedSum - one.allowedSum)
  return { currencies, groups: named.slice(0, SUM_GROUPS_MAX) }
}

/** Where a call has the name that it is counted for. */
const CALLS_OF = {
  all: { name: "''", joined: '' },
  caller: { name: 'w.text', joined: 'JOIN words w ON w.id = calls.principal' },
  approver: {
    name: `substr(w.text, ${'approver:'.length + 1})`,
    joined: `JOIN words w ON w.text >= 'approver:' AND w.text < 'approver;'
      JOIN judged AS tag ON tag.path = w.id AND tag.seq = calls.seq`,
  },
} as const

const CURRENCY_NAMES = ['currency', 'currency_code', 'currencyCode']

/** The currency of a call in SQL: an argument beside the number, or beside an object that has it. */
function findCurrency(database: DatabaseSync, path: string): string {
  const parts = path.split('.').slice(0, -1)
  const objects = parts.map((_, at) => parts.slice(0, at + 1).join('.'))
  const ids = objects
    .flatMap((object) => CURRENCY_NAMES.map((name) => `${object}.${name}`))
    .map((one) => database.prepare('SELECT id FROM words WHERE text = ?').get(one)?.id)
    .filter((id) => id !== undefined)
  return `coalesce((SELECT upper(unit.value) FROM judged AS unit
    WHERE unit.path IN (${ids.join(', ')}) AND unit.seq = calls.seq LIMIT 1), '')`
}

function sumCalls(
  { found, from, where }: CallSelection,
  { name, joined }: (typeof CALLS_OF)[keyof typeof CALLS_OF],
  currency: string,
): string {
  return `${found} SELECT ${name} AS name, ${currency} AS currency, count(*) AS calls,
    sum(judged.value) AS sum, min(judged.value) AS min, max(judged.value) AS max,
    count(*) FILTER (WHERE ${IS_ALLOWED}) AS allowed,
    total(judged.value) FILTER (WHERE ${IS_ALLOWED}) AS allowedSum
    FROM ${from} ${joined} ${where} AND judged.value < '' AND calls.${IS_COUNTED} GROUP BY 1, 2`
}

function addSums(sums: Map<string, SumOfName>, rows: readonly SumOfName[]): void {
  for (const row of rows) {
    const key = JSON.stringify([row.name, row.currency])
    const had = sums.get(key)
    sums.set(
      key,
      had === undefined
        ? row
        : {
            ...row,
            calls: had.calls + row.calls,
            sum: had.sum + row.sum,
            min: Math.min(had.min, row.min),
            max: Math.max(had.max, row.max),
            allowed: had.allowed + row.allowed,
            allowedSum: had.allowedSum + row.allowedSum,
          },
    )
  }
}
