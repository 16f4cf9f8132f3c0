// Checks the history of a cluster after the fact. What servers saw arrive is compared with the policy of the run, and
// the charges and the ledger with what arrived: no window above its limit, no counter other than its charges, every
// arrival has an intent before it, every effect at most once, every intent an outcome, no call after a freeze, no record
// by a gate that was replaced. Amounts are sums of integers (`toUnits`): those of doubles would not be exact.
// `node scripts/check-history.ts` runs it on a database; `npm run soak -- faults` plants faults in the product.

import {
  DECIMAL_DIGITS_MAX,
  type Decimal,
  formatDecimal,
  ONE,
  parseDecimal,
  toDecimal,
  ZERO,
} from '@sluice/policy/values/decimal'
import { InstallationKey } from '../../packages/access/src/identity/keys/installation-key.ts'
import { deriveKey } from '../../packages/gateway/src/data/cluster-keys.ts'
import { deriveRecordKey } from '../../packages/gateway/src/data/open-ledger.ts'
import { decode } from '../../packages/ledger/src/records/decoding.ts'
import { KeyedDigest } from '../../packages/ledger/src/records/keyed-digest.ts'
import { digestText, type LedgerRecord } from '../../packages/ledger/src/records/record.ts'
import { digestCharge } from '../../packages/ledger/src/store/postgres/batch.ts'
import type { PostgresConnections } from '../../packages/ledger/src/store/postgres/connections.ts'
import { CLUSTER_KEY } from '../support/postgres.ts'

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
  /** In units. */
  readonly amount: bigint
}

/** What a gate decides by, beside the charges that it is the sum of. Both are of one moment, and in units. */
export interface HistoryCounter {
  /** Digest of the counter, hex. */
  readonly key: string
  readonly sum: bigint
  readonly charged: bigint
}

export interface Arrival {
  readonly tool: string
  /** The argument `amount`, in units; 0 if there is none. */
  readonly amount: bigint
  /** Of the arguments, which are another for each call. */
  readonly digest: string
  readonly atMs: number
}

/** A limit of the policy of the run, counted for everyone. */
export interface RunLimit {
  /** `rate` counts calls, `spend` sums their argument `amount`. */
  readonly kind: 'rate' | 'spend'
  readonly tool: string
  /** A plain decimal. */
  readonly max: string
  readonly windowMs: number
}

export interface History {
  readonly limits: readonly RunLimit[]
  /** Calls that must have arrived at least: a run in which nothing happened shows nothing. */
  readonly arrivalsMin: number
  /** Of each gate in the order of its chain. */
  readonly rows: readonly HistoryRow[]
  readonly charges: readonly HistoryCharge[]
  readonly counters: readonly HistoryCounter[]
  readonly arrivals: readonly Arrival[]
  /** How often each approval may be used, by the digest of its counter. */
  readonly approvals: ReadonlyMap<string, number>
  /** From after a freeze was committed until before it was lifted. */
  readonly freezes: readonly { readonly fromMs: number; readonly untilMs: number }[]
}

/** Clocks are read in whole milliseconds. */
const ROUNDING_MS = 2
/** Digits after the point of a unit: a product of two amounts has at most so many. */
const UNIT_DIGITS = 2 * DECIMAL_DIGITS_MAX
const ONE_CALL = toUnits(ONE)

export function toUnits({ scale, units }: Decimal): bigint {
  return units * 10n ** BigInt(UNIT_DIGITS - scale)
}

function parseUnits(text: unknown): bigint {
  const amount = parseDecimal(String(text))
  if (amount === undefined) throw new Error(`not a decimal: ${text}`)
  return toUnits(amount)
}

function format(units: bigint): string {
  return formatDecimal({ units, scale: UNIT_DIGITS })
}

export function checkHistory(history: History): string[] {
  return [
    ...checkRunLimits(history),
    ...checkWindows(history),
    ...checkCharges(history),
    ...checkCounters(history),
    ...checkArrivals(history),
    ...checkOutcomes(history),
    ...checkFreezes(history),
    ...checkEpochs(history),
  ]
}

interface ChargedIntent extends Counted {
  readonly key: string
  readonly windowMs: number
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
      max: toUnits(charge.max),
      amount: toUnits(charge.amount),
      isGivenBack,
    }))
  })
}

/** By the policy of the run: what arrived is within the limits, and was charged. The time of a call is that of its
 * charge, which is before its arrival by however long the machine took. */
function checkRunLimits(history: History): string[] {
  const { arrivals, arrivalsMin, limits } = history
  const wrong: string[] = []
  if (arrivals.length < arrivalsMin)
    wrong.push(`too little: ${arrivals.length} calls arrived, and not ${arrivalsMin}`)
  const intents = intentsByDigest(history)
  for (const limit of limits) {
    const { kind, tool, windowMs } = limit
    const max = parseUnits(limit.max)
    const calls = arrivals.flatMap((arrival) => {
      const row = arrival.tool === tool ? intents.get(arrival.digest) : undefined
      return row === undefined
        ? []
        : [{ row, max, amount: kind === 'rate' ? ONE_CALL : arrival.amount }]
    })
    for (const { amount, row } of calls) {
      const charge = limitsOf(row).find((one) => one.kind === kind && one.windowMs === windowMs)
      if (charge === undefined)
        wrong.push(`limit left out: ${tool} arrived by ${describe(row)}, which charges nothing`)
      else if (toUnits(charge.amount) !== amount)
        wrong.push(
          `amount: ${formatDecimal(charge.amount)} and not ${format(amount)} in ${describe(row)}`,
        )
    }
    const over = findOverrun(calls, windowMs)
    if (over !== undefined)
      wrong.push(
        `limit: ${format(over.sum)} of ${limit.max} (${kind}) of ${tool} arrived in a window`,
      )
  }
  return wrong
}

interface Counted {
  readonly row: HistoryRow
  readonly max: bigint
  readonly amount: bigint
}

interface Overrun extends Counted {
  readonly sum: bigint
}

/** The first call with which the amounts in a window are above its maximum. */
function findOverrun(calls: readonly Counted[], windowMs: number): Overrun | undefined {
  const sorted = calls.toSorted((one, other) => one.row.atMs - other.row.atMs)
  let sum = 0n
  let first = 0
  for (const call of sorted) {
    sum += call.amount
    while ((sorted[first] as Counted).row.atMs <= call.row.atMs - windowMs)
      sum -= (sorted[first++] as Counted).amount
    if (sum > call.max) return { ...call, sum }
  }
  return undefined
}

function limitsOf({ record }: HistoryRow) {
  return record.kind === 'intent' ? record.decision.limits : []
}

function intentsByDigest({ rows }: History): Map<string, HistoryRow> {
  const intents = new Map<string, HistoryRow>()
  for (const row of rows)
    if (row.record.kind === 'intent' && row.record.argsDigest !== null)
      intents.set(row.record.argsDigest, row)
  return intents
}

function isFirm({ isGivenBack }: ChargedIntent): boolean {
  return !isGivenBack
}

/** Never more than `max` in any window. */
function checkWindows(history: History): string[] {
  const wrong: string[] = []
  for (const [key, intents] of group(listCharged(history), ({ key }) => key)) {
    const [{ windowMs }] = intents as [ChargedIntent]
    const over = findOverrun(intents.filter(isFirm), windowMs)
    if (over !== undefined)
      wrong.push(
        `window: ${format(over.sum)} of ${format(over.max)} charged at ${describe(over.row)}, counter ${key.slice(0, 8)}`,
      )
  }
  return wrong
}

/** The charges are those of the intents, each once; an approval is used as often as it may be. */
function checkCharges(history: History): string[] {
  const wrong: string[] = []
  const place = (key: string, gate: string, atMs: number) => `${key} ${gate} ${atMs.toFixed(3)}`
  const made = new Map<string, bigint>()
  for (const { amount, atMs, gate, key } of history.charges) {
    const at = place(key, gate, atMs)
    made.set(at, (made.get(at) ?? 0n) + amount)
  }
  const endMs = history.rows.reduce((last, { atMs }) => Math.max(last, atMs), 0)
  const charged = listCharged(history)
  const known = new Set(charged.map(({ key }) => key))
  for (const [at, intents] of group(charged, ({ key, row }) => place(key, row.gate, row.atMs))) {
    const [{ key, row, windowMs }] = intents as [ChargedIntent]
    const sum = (those: ChargedIntent[]) => those.reduce((total, { amount }) => total + amount, 0n)
    const amount = made.get(at) ?? 0n
    made.delete(at)
    // What the ledger says was given back may still be charged, if the gate was killed right then.
    const most = sum(intents)
    const least = row.atMs <= endMs - windowMs ? 0n : sum(intents.filter(isFirm))
    const where = `at ${row.gate}, counter ${key.slice(0, 8)}`
    if (amount > most)
      wrong.push(`double charge: ${format(amount)} and not ${format(most)} ${where}`)
    if (amount < least)
      wrong.push(`missing charge: ${format(amount)} and not ${format(least)} ${where}`)
  }
  for (const [at, amount] of made)
    if (known.has(at.split(' ')[0] as string))
      wrong.push(`double charge: ${format(amount)} without an intent`)
  for (const [key, charges] of group(history.charges, ({ key }) => key)) {
    const uses = history.approvals.get(key)
    const used = charges.reduce((sum, { amount }) => sum + amount, 0n)
    if (uses !== undefined && used > BigInt(uses) * ONE_CALL)
      wrong.push(`approval: used ${format(used)} times of ${uses}`)
  }
  return wrong
}

/** A counter is changed with its charges, in one transaction. One that is lower lets too many calls pass. */
function checkCounters({ counters }: History): string[] {
  return counters
    .filter(({ charged, sum }) => sum !== charged)
    .map(
      ({ charged, key, sum }) =>
        `counter: ${key.slice(0, 8)} is ${format(sum)}, and its charges are ${format(charged)}`,
    )
}

function checkArrivals(history: History): string[] {
  const { arrivals } = history
  const intents = intentsByDigest(history)
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

/** Every intent has one outcome, which agrees with whether the call arrived. */
function checkOutcomes({ arrivals, rows }: History): string[] {
  const wrong: string[] = []
  const arrived = new Set(arrivals.map(({ digest }) => digest))
  const outcomes = group(
    rows.filter(({ record }) => record.kind === 'outcome'),
    ({ gate, record }) => `${gate} ${record.kind === 'outcome' && record.intent}`,
  )
  for (const row of rows) {
    const { gate, record, seq } = row
    if (record.kind !== 'intent' || record.argsDigest === null) continue
    const its = outcomes.get(`${gate} ${seq}`) ?? []
    if (its.length !== 1) wrong.push(`lost outcome: ${describe(row)} has ${its.length} outcomes`)
    const [outcome] = its.map((each) => each.record)
    if (outcome?.kind !== 'outcome') continue
    const hasArrived = arrived.has(record.argsDigest)
    if (outcome.givenBack && hasArrived)
      wrong.push(`given back: ${describe(row)} arrived, and was given back`)
    if (outcome.status === 'answered' && !hasArrived)
      wrong.push(`record without effect: ${describe(row)} was answered, and did not arrive`)
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
/** One statement, so that both are of one moment. */
const COUNTERS = `SELECT encode(c.key, 'hex') AS key, c.sum,
    coalesce((SELECT sum(made.amount) FROM sluice.charge made WHERE made.key = c.key), 0) AS charged
  FROM sluice.counter c`
const APPROVALS = "SELECT key FROM sluice.shared WHERE kind = 'approvals'"
/** As the counter of an approval is named, see store/postgres/batch.ts. */
const APPROVAL_WINDOW_MS = 400 * 86_400_000

/** `arrivals`: lines of JSON with `name`, `arguments` and `atMs`. The rest is what is known of the run. */
export async function readHistory(
  connections: PostgresConnections,
  arrivals: string,
  known: Partial<Pick<History, 'arrivalsMin' | 'freezes' | 'limits'>> = {},
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
  const counters = await connections.query(COUNTERS, [], 30_000)
  const approvals = await connections.query(APPROVALS)
  return {
    rows,
    charges: charges.map((row) => ({
      key: String(row.key),
      gate: String(row.gate),
      atMs: Number(row.at_ms),
      amount: parseUnits(row.amount),
    })),
    counters: counters.map((row) => ({
      key: String(row.key),
      sum: parseUnits(row.sum),
      charged: parseUnits(row.charged),
    })),
    arrivals: arrivals
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => {
        const { arguments: args, atMs, name } = JSON.parse(line) as ArrivalLine
        const amount = toUnits(toDecimal(args.amount) ?? ZERO)
        return {
          tool: name,
          amount,
          digest: keyed.ofDigest(digestText(JSON.stringify(args))),
          atMs,
        }
      }),
    approvals: new Map(approvals.map((row) => [toApprovalCounter(String(row.key)), 1])),
    limits: [],
    arrivalsMin: 1,
    freezes: [],
    ...known,
  }
}

const clusterKey = new InstallationKey(deriveKey(CLUSTER_KEY, 'sealing'))
const keyed = new KeyedDigest(deriveRecordKey(clusterKey))

interface ArrivalLine {
  readonly name: string
  readonly arguments: { readonly amount?: unknown }
  readonly atMs: number
}

/** Of a record only what is checked: a history has millions of them. */
function keepChecked(record: LedgerRecord): LedgerRecord {
  const { kind } = record
  if (kind === 'intent') {
    const { argsDigest, decision } = record
    return { kind, argsDigest, decision: { limits: decision.limits } } as LedgerRecord
  }
  if (kind !== 'outcome') return { kind } as LedgerRecord
  const { givenBack, intent, status } = record
  return { kind, givenBack, intent, status } as LedgerRecord
}

/** The key of a shared row is a list of SQL literals. */
function toApprovalCounter(key: string): string {
  const [literal = ''] = JSON.parse(key) as string[]
  const name = { key: `approval ${literal.slice(1, -1)}`, windowMs: APPROVAL_WINDOW_MS }
  const charge = { ...name, kind: 'rate', max: ZERO, amount: ZERO } as const
  return Buffer.from(digestCharge(charge), 'latin1').toString('hex')
}
