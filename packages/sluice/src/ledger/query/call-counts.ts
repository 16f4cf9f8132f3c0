// Counts of calls in the query index, so that figures over weeks do not read every call: by minute and
// decision, and by hour and name. Written in the transaction that adds the calls, and compared with them
// by index-check.ts.

import { USUAL_WORDS } from '../records/files.ts'

export const MINUTE_MS = 60_000
export const HOUR_MS = 3_600_000
/** Columns of `calls` that are counted by hour, and their number in `hours`. */
export const COUNTED_KINDS = { principal: 1, agent: 2, tool: 3 } as const
export type CountedColumn = keyof typeof COUNTED_KINDS

const REFUSED = `action <> ${USUAL_WORDS.action}`
const ADD_MINUTE = 'ON CONFLICT DO UPDATE SET n = n + excluded.n'
const ADD_HOUR =
  'ON CONFLICT DO UPDATE SET n = n + excluded.n, refused = refused + excluded.refused'

export const COUNT_STATEMENTS = {
  minute: `INSERT INTO minutes VALUES (?, ?, ?, ?) ${ADD_MINUTE}`,
  hour: `INSERT INTO hours VALUES (?, ?, ?, ?, ?) ${ADD_HOUR}`,
} as const

/** The rows of `minutes` as the calls have them, `sign` before each count. */
function minutesOfCalls(where: string, sign = ''): string {
  return `SELECT at / ${MINUTE_MS}, action, code, ${sign}count(*) FROM calls
    WHERE ${where} GROUP BY 1, 2, 3`
}

/** The rows of `hours`, a query for each kind. */
function hoursOfCalls(where: string, sign = ''): string[] {
  return Object.entries(COUNTED_KINDS).map(([column, kind]) => {
    const counted = column === 'agent' ? `AND agent <> ${USUAL_WORDS.agent}` : ''
    return `SELECT ${kind}, at / ${HOUR_MS}, ${column}, ${sign}count(*), ${sign}sum(${REFUSED})
      FROM calls WHERE ${where} ${counted} GROUP BY 2, 3`
  })
}

const MODULUS = 1_000_003
/** Linear in the counts, so that it can be kept up while they grow. */
export const COUNTS_SUM = `(
  (SELECT coalesce(sum((minute % ${MODULUS} * 3 + action * 5 + code * 7) % ${MODULUS} * n), 0)
    FROM minutes)
  + (SELECT coalesce(sum((kind * 11 + hour % ${MODULUS} * 13 + word * 17) % ${MODULUS}
      * (n + refused * 3)), 0) FROM hours))`

/** Before the calls up to a number are deleted. */
export function uncountUpTo(seq: number): string {
  const where = `seq <= ${seq}`
  return [
    `INSERT INTO minutes ${minutesOfCalls(where, '-')} ${ADD_MINUTE}`,
    ...hoursOfCalls(where, '-').map((rows) => `INSERT INTO hours ${rows} ${ADD_HOUR}`),
    'DELETE FROM minutes WHERE n = 0',
    'DELETE FROM hours WHERE n = 0',
    `UPDATE tally SET counts = ${COUNTS_SUM}`,
  ].join('; ')
}

const ALL_HOURS = `SELECT * FROM (${hoursOfCalls('true').join(' UNION ALL ')})`
/** How many rows of the counts are not what the calls say. */
export const WRONG_COUNTS = `SELECT
  (SELECT count(*) FROM (SELECT * FROM minutes EXCEPT ${minutesOfCalls('true')}))
  + (SELECT count(*) FROM (${minutesOfCalls('true')} EXCEPT SELECT * FROM minutes))
  + (SELECT count(*) FROM (SELECT * FROM hours EXCEPT ${ALL_HOURS}))
  + (SELECT count(*) FROM (${ALL_HOURS} EXCEPT SELECT * FROM hours)) AS n`

/** Places of columns in a row of `calls`. */
const PLACES = { at: 1, principal: 2, agent: 3, tool: 8, action: 10, code: 11 } as const

interface CountWriter {
  readonly minute: { run(...values: number[]): unknown }
  readonly hour: { run(...values: number[]): unknown }
}

interface CallCount {
  n: number
  refused: number
}

/** By two numbers, without a key that is a new text for each call. */
type CountTable = Map<number, Map<number, CallCount>>

/** What one step of the index adds, written at its end. */
export class CountedCalls {
  /** By action, minute and code. */
  readonly #minutes = new Map<number, CountTable>()
  /** By hour and word. */
  readonly #hours = {
    principal: new Map() as CountTable,
    agent: new Map() as CountTable,
    tool: new Map() as CountTable,
  }

  add(row: readonly unknown[]): void {
    const at = Number(row[PLACES.at])
    const action = Number(row[PLACES.action])
    const refused = action === USUAL_WORDS.action ? 0 : 1
    const minutes: CountTable = this.#minutes.get(action) ?? new Map()
    if (minutes.size === 0) this.#minutes.set(action, minutes)
    count(minutes, { first: Math.floor(at / MINUTE_MS), second: Number(row[PLACES.code]), refused })
    const first = Math.floor(at / HOUR_MS)
    const { principal, agent, tool } = this.#hours
    count(principal, { first, second: Number(row[PLACES.principal]), refused })
    count(tool, { first, second: Number(row[PLACES.tool]), refused })
    const second = Number(row[PLACES.agent])
    if (second !== USUAL_WORDS.agent) count(agent, { first, second, refused })
  }

  /** Returns what was added to `COUNTS_SUM`. */
  flush(to: CountWriter): number {
    let sum = 0
    for (const [action, minutes] of this.#minutes)
      for (const [minute, codes] of minutes)
        for (const [code, { n }] of codes) {
          to.minute.run(minute, action, code, n)
          sum += (((minute % MODULUS) * 3 + action * 5 + code * 7) % MODULUS) * n
        }
    for (const [column, kind] of Object.entries(COUNTED_KINDS))
      for (const [hour, words] of this.#hours[column as CountedColumn])
        for (const [word, { n, refused }] of words) {
          to.hour.run(kind, hour, word, n, refused)
          sum += ((kind * 11 + (hour % MODULUS) * 13 + word * 17) % MODULUS) * (n + refused * 3)
        }
    this.clear()
    return sum
  }

  clear(): void {
    this.#minutes.clear()
    for (const table of Object.values(this.#hours)) table.clear()
  }
}

function count(
  table: CountTable,
  { first, second, refused }: { first: number; second: number; refused: number },
): void {
  const counts = table.get(first) ?? new Map<number, CallCount>()
  if (counts.size === 0) table.set(first, counts)
  const known = counts.get(second)
  if (known === undefined) counts.set(second, { n: 1, refused })
  else {
    known.n++
    known.refused += refused
  }
}
