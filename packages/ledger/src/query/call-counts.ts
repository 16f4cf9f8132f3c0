// Counts of calls in the query index, so that figures over weeks do not read every call: by minute and
// decision, and by hour, name and decision. Written in the transaction that adds the calls. A decision is stored as the action
// that it became and its code: records/outcome-label.ts says what people call it.

import { USUAL_WORDS } from '../records/files.ts'

export const MINUTE_MS = 60_000
export const HOUR_MS = 3_600_000
/** A held call that was made again is counted with its last record, as SQL over `calls`. */
export const IS_COUNTED = `became <> ${USUAL_WORDS.madeAgain}`
/** Columns of `calls` that are counted by hour, and their number in `hours`. */
export const COUNTED_KINDS = { principal: 1, agent: 2, tool: 3 } as const
export type CountedColumn = keyof typeof COUNTED_KINDS

const ADD = 'ON CONFLICT DO UPDATE SET n = n + excluded.n'

export const COUNT_STATEMENTS = {
  minute: `INSERT INTO minutes VALUES (?, ?, ?, ?) ${ADD}`,
  hour: `INSERT INTO hours VALUES (?, ?, ?, ?, ?, ?) ${ADD}`,
  emptyMinute: 'DELETE FROM minutes WHERE minute = ? AND became = ? AND code = ? AND n = 0',
  emptyHour:
    'DELETE FROM hours WHERE kind = ? AND hour = ? AND word = ? AND became = ? AND code = ? AND n = 0',
} as const

/** The rows of `minutes` as the calls have them, `sign` before each count. */
function minutesOfCalls(where: string, sign: string): string {
  return `SELECT at / ${MINUTE_MS} AS minute, became, code, ${sign}count(*) AS n FROM calls
    WHERE ${where} AND ${IS_COUNTED} GROUP BY 1, 2, 3`
}

/** The rows of `hours`, a query for each kind. */
function hoursOfCalls(where: string, sign: string): string[] {
  return Object.entries(COUNTED_KINDS).map(([column, kind]) => {
    const counted = column === 'agent' ? `AND agent <> ${USUAL_WORDS.agent}` : ''
    return `SELECT ${kind} AS kind, at / ${HOUR_MS} AS hour, ${column} AS word, became, code,
      ${sign}count(*) AS n FROM calls WHERE ${where} ${counted} AND ${IS_COUNTED} GROUP BY 2, 3, 4, 5`
  })
}

/** Returns the SQL that subtracts calls before they are deleted. It reads only their own minutes and hours. */
export function uncountUpTo(seq: number): string {
  const where = `seq <= ${seq}`
  const kinds = Object.values(COUNTED_KINDS).join()
  return [
    `INSERT INTO minutes ${minutesOfCalls(where, '-')} ${ADD}`,
    ...hoursOfCalls(where, '-').map((rows) => `INSERT INTO hours ${rows} ${ADD}`),
    `DELETE FROM minutes WHERE n = 0
      AND minute IN (SELECT at / ${MINUTE_MS} FROM calls WHERE ${where})`,
    `DELETE FROM hours WHERE n = 0 AND kind IN (${kinds})
      AND hour IN (SELECT at / ${HOUR_MS} FROM calls WHERE ${where})`,
  ].join('; ')
}

/** Places of columns in a row of `calls`. */
const PLACES = { at: 1, principal: 2, agent: 3, tool: 8, code: 11, became: 17 } as const

type CountWriter = Readonly<
  Record<keyof typeof COUNT_STATEMENTS, { run(...values: number[]): unknown }>
>

interface CallCount {
  n: number
}

/** Counts by outcome, without a key that would be a new text for each call. */
type CountTable = Map<number, CallCount>

/** Calls with one action and code. */
interface DecisionCounts {
  readonly minutes: CountTable
  readonly hours: Map<number, Readonly<Record<CountedColumn, CountTable>>>
}

/** The counts that one step of the index adds. They are written at its end. */
export class CountedCalls {
  /** Counts by action and code. */
  readonly #decisions = new Map<number, Map<number, DecisionCounts>>()

  /** `by`: -1 takes back what was counted. */
  add(row: readonly unknown[], by = 1): void {
    const [at, became] = [Number(row[PLACES.at]), Number(row[PLACES.became])]
    if (became === USUAL_WORDS.madeAgain) return
    const { minutes, hours } = this.#find(became, Number(row[PLACES.code]))
    const count = (table: CountTable, key: number) => addTo(table, key, by)
    count(minutes, Math.floor(at / MINUTE_MS))
    const hour = Math.floor(at / HOUR_MS)
    let names = hours.get(hour)
    if (names === undefined) {
      names = { principal: new Map(), agent: new Map(), tool: new Map() }
      hours.set(hour, names)
    }
    count(names.principal, Number(row[PLACES.principal]))
    count(names.tool, Number(row[PLACES.tool]))
    const agent = Number(row[PLACES.agent])
    if (agent !== USUAL_WORDS.agent) count(names.agent, agent)
  }

  #find(action: number, code: number): DecisionCounts {
    let codes = this.#decisions.get(action)
    if (codes === undefined) {
      codes = new Map()
      this.#decisions.set(action, codes)
    }
    let counts = codes.get(code)
    if (counts === undefined) {
      counts = { minutes: new Map(), hours: new Map() }
      codes.set(code, counts)
    }
    return counts
  }

  flush(to: CountWriter): void {
    for (const [action, codes] of this.#decisions)
      for (const [code, { minutes, hours }] of codes) {
        for (const [minute, { n }] of minutes) {
          if (n === 0) continue
          to.minute.run(minute, action, code, n)
          if (n < 0) to.emptyMinute.run(minute, action, code)
        }
        for (const [hour, names] of hours)
          for (const [column, kind] of Object.entries(COUNTED_KINDS))
            for (const [word, { n }] of names[column as CountedColumn]) {
              if (n === 0) continue
              to.hour.run(kind, hour, word, action, code, n)
              if (n < 0) to.emptyHour.run(kind, hour, word, action, code)
            }
      }
    this.clear()
  }

  clear(): void {
    this.#decisions.clear()
  }
}

function addTo(table: CountTable, key: number, by: number): void {
  const known = table.get(key)
  if (known === undefined) table.set(key, { n: by })
  else known.n += by
}
