// Checks the history of a cluster after the fact, from nothing but what servers saw arrive, the charges and
// the ledger: no window above its limit, every arrival has an intent before it, every effect at most once,
// every approval used as often as it may be, no call after a freeze, no record by a gate that was replaced.
// `node scripts/check-history.ts` runs it on a database; the test plants faults and expects them found.

import { formatDecimal, parseDecimal } from '@sluice/policy/core/decimal'
import { decode } from '../../packages/sluice/src/ledger/records/decoding.ts'
import { digestText, type LedgerRecord } from '../../packages/sluice/src/ledger/records/record.ts'
import { digestCharge } from '../../packages/sluice/src/store/postgres/batch.ts'
import type { PostgresConnections } from '../../packages/sluice/src/store/postgres/connections.ts'

export interface HistoryRow {
  readonly gate: string
  readonly seq: number
  readonly epoch: number
  /** By the clock of the database, as are all times here. */
  readonly atMs: number
  readonly record: LedgerRecord
}

export interface HistoryCharge {
  /** Digest of the counter, hex. */
  readonly key: string
  readonly gate: string
  readonly atMs: number
  readonly amount: number
}

export interface Arrival {
  /** Of the arguments, which are another for each call. */
  readonly digest: string
  readonly atMs: number
}

export interface History {
  /** Of each gate in the order of its chain. */
  readonly rows: readonly HistoryRow[]
  readonly charges: readonly HistoryCharge[]
  readonly arrivals: readonly Arrival[]
  /** How often each approval may be used, by the digest of its counter. */
  readonly approvals: ReadonlyMap<string, number>
  /** From after a freeze was committed until before it was lifted. */
  readonly freezes: readonly { readonly fromMs: number; readonly untilMs: number }[]
}

/** Clocks are read in whole milliseconds. */
const ROUNDING_MS = 2

export function checkHistory(history: History): string[] {
  return [
    ...checkWindows(history),
    ...checkCharges(history),
    ...checkArrivals(history),
    ...checkFreezes(history),
    ...checkEpochs(history),
  ]
}

interface ChargedIntent {
  readonly row: HistoryRow
  readonly key: string
  readonly windowMs: number
  readonly max: number
  readonly amount: number
  readonly isGivenBack: boolean
}

function listCharged({ rows }: History): ChargedIntent[] {
  const givenBack = new Set(
    rows.flatMap(({ gate, record }) =>
      record.kind === 'outcome' && record.givenBack ? [`${gate} ${record.intent}`] : [],
    ),
  )
  return rows.flatMap((row) => {
    const { gate, record, seq } = row
    if (record.kind !== 'intent') return []
    const isGivenBack = givenBack.has(`${gate} ${seq}`)
    return record.decision.limits.map((charge) => ({
      row,
      key: Buffer.from(digestCharge(charge), 'latin1').toString('hex'),
      windowMs: charge.windowMs,
      max: Number(formatDecimal(charge.max)),
      amount: Number(formatDecimal(charge.amount)),
      isGivenBack,
    }))
  })
}

/** Never more than `max` in any window. */
function checkWindows(history: History): string[] {
  const wrong: string[] = []
  for (const [key, intents] of group(listCharged(history), ({ key }) => key)) {
    const counted = intents
      .filter(({ isGivenBack }) => !isGivenBack)
      .sort((one, other) => one.row.atMs - other.row.atMs)
    let sum = 0
    let first = 0
    for (const { amount, max, row, windowMs } of counted) {
      sum += amount
      while ((counted[first] as ChargedIntent).row.atMs <= row.atMs - windowMs)
        sum -= (counted[first++] as ChargedIntent).amount
      if (sum > max) {
        wrong.push(
          `window: ${sum} of ${max} charged at ${describe(row)}, counter ${key.slice(0, 8)}`,
        )
        break
      }
    }
  }
  return wrong
}

/** The charges are those of the intents, each once; an approval is used as often as it may be. */
function checkCharges(history: History): string[] {
  const wrong: string[] = []
  const place = (key: string, gate: string, atMs: number) => `${key} ${gate} ${atMs.toFixed(3)}`
  const due = new Map<string, number>()
  const known = new Set<string>()
  for (const { amount, key, row } of listCharged(history)) {
    known.add(key)
    const at = place(key, row.gate, row.atMs)
    // What the ledger says was given back may still be charged, if the gate was killed right then.
    due.set(at, (due.get(at) ?? 0) + amount)
  }
  const places = group(history.charges, ({ atMs, gate, key }) => place(key, gate, atMs))
  for (const [at, charges] of places) {
    const [{ gate, key }] = charges as [HistoryCharge]
    const amount = charges.reduce((sum, charge) => sum + charge.amount, 0)
    const should = known.has(key) ? (due.get(at) ?? 0) : amount
    if (amount > should)
      wrong.push(
        `double charge: ${amount} and not ${should} at ${gate}, counter ${key.slice(0, 8)}`,
      )
  }
  for (const [key, charges] of group(history.charges, ({ key }) => key)) {
    const uses = history.approvals.get(key)
    const used = charges.reduce((sum, { amount }) => sum + amount, 0)
    if (uses !== undefined && used > uses) wrong.push(`approval: used ${used} times of ${uses}`)
  }
  return wrong
}

function checkArrivals({ arrivals, rows }: History): string[] {
  const intents = new Map<string, HistoryRow>()
  for (const row of rows)
    if (row.record.kind === 'intent' && row.record.argsDigest !== null)
      intents.set(row.record.argsDigest, row)
  const wrong: string[] = []
  for (const [digest, times] of group(arrivals, ({ digest }) => digest)) {
    const [first] = times as [Arrival]
    if (times.length > 1) wrong.push(`double send: ${digest} arrived ${times.length} times`)
    const intent = intents.get(digest)
    if (intent === undefined) wrong.push(`lost intent: ${digest} arrived, and no gate recorded it`)
    else if (first.atMs + ROUNDING_MS < intent.atMs)
      wrong.push(`late intent: ${digest} arrived before ${describe(intent)}`)
  }
  return wrong
}

function checkFreezes({ freezes, rows }: History): string[] {
  return rows
    .filter(({ record }) => record.kind === 'intent')
    .filter(({ atMs }) => freezes.some(({ fromMs, untilMs }) => atMs > fromMs && atMs < untilMs))
    .map((row) => `stale freeze: a call was admitted at ${describe(row)}`)
}

/** A gate that was replaced appends nothing any more. */
function checkEpochs({ rows }: History): string[] {
  const wrong: string[] = []
  for (const [, chain] of group(rows, ({ gate }) => gate))
    for (const [at, row] of chain.entries()) {
      const before = chain[at - 1]
      if (before === undefined) continue
      if (row.epoch < before.epoch)
        wrong.push(
          `zombie append: ${describe(row)} is of epoch ${row.epoch}, after ${before.epoch}`,
        )
      if (row.seq !== before.seq + 1) wrong.push(`chain: ${describe(row)} follows ${before.seq}`)
    }
  return wrong
}

function describe({ gate, seq }: HistoryRow): string {
  return `record ${seq} of ${gate}`
}

function group<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const key = keyOf(item)
    const there = groups.get(key)
    if (there === undefined) groups.set(key, [item])
    else there.push(item)
  }
  return groups
}

const MS = (column: string) => `extract(epoch FROM ${column}) * 1000`
const ROWS = `SELECT gate, seq, epoch, ${MS('at')} AS at_ms, body FROM sluice.ledger
  WHERE (gate, seq) > ($1, $2) ORDER BY gate, seq LIMIT 5000`
const CHARGES = `SELECT encode(key, 'hex') AS key, gate, ${MS('at')} AS at_ms, amount FROM sluice.charge`
const APPROVALS = "SELECT key FROM sluice.shared WHERE kind = 'approvals'"
/** As the counter of an approval is named, see store/postgres/batch.ts. */
const APPROVAL_WINDOW_MS = 400 * 86_400_000

/** `arrivals`: lines of JSON with `arguments` and `atMs`. */
export async function readHistory(
  connections: PostgresConnections,
  arrivals: string,
  freezes: History['freezes'] = [],
): Promise<History> {
  const rows: HistoryRow[] = []
  for (;;) {
    const last = rows.at(-1)
    const page = await connections.query(ROWS, [last?.gate ?? '', last?.seq ?? 0], 30_000)
    for (const row of page)
      rows.push({
        gate: String(row.gate),
        seq: Number(row.seq),
        epoch: Number(row.epoch),
        atMs: Number(row.at_ms),
        record: keepChecked(decode((row.body as Buffer).toString('utf8'))),
      })
    if (page.length === 0) break
  }
  const charges = await connections.query(CHARGES, [], 30_000)
  const approvals = await connections.query(APPROVALS)
  return {
    rows,
    charges: charges.map((row) => ({
      key: String(row.key),
      gate: String(row.gate),
      atMs: Number(row.at_ms),
      amount: Number(row.amount),
    })),
    arrivals: arrivals
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => {
        const { arguments: args, atMs } = JSON.parse(line) as { arguments: object; atMs: number }
        return { digest: digestText(JSON.stringify(args)), atMs }
      }),
    approvals: new Map(approvals.map((row) => [toApprovalCounter(String(row.key)), 1])),
    freezes,
  }
}

/** Of a record only what is checked: a history has millions of them. */
function keepChecked(record: LedgerRecord): LedgerRecord {
  const { kind } = record
  if (kind === 'intent') {
    const { argsDigest, decision } = record
    return { kind, argsDigest, decision: { limits: decision.limits } } as LedgerRecord
  }
  if (kind !== 'outcome') return { kind } as LedgerRecord
  const { givenBack, intent } = record
  return { kind, givenBack, intent } as LedgerRecord
}

/** The key of a shared row is a list of SQL literals. */
function toApprovalCounter(key: string): string {
  const [literal = ''] = JSON.parse(key) as string[]
  const zero = parseDecimal('0') as NonNullable<ReturnType<typeof parseDecimal>>
  const name = { key: `approval ${literal.slice(1, -1)}`, windowMs: APPROVAL_WINDOW_MS }
  const charge = { ...name, kind: 'rate', max: zero, amount: zero } as const
  return Buffer.from(digestCharge(charge), 'latin1').toString('hex')
}
