// Moves the data directory of one gate into a shared store that is empty: the ledger becomes the chain of that
// gate, and what gates share (policies, approvals, grants, people, ...) its first state; what limits have charged
// and the labels of sessions go on to count. One transaction. Called by `sluice store move`.

import type { DatabaseSync } from 'node:sqlite'
import { identityFile } from '@sluice/access/identity/identity-file'
import { InstallationKey } from '@sluice/access/identity/keys/installation-key'
import { deriveSigningKey } from '@sluice/access/identity/keys/signing-key'
import { readBase } from '@sluice/ledger/chain/base'
import { listRecordSpans, recordText } from '@sluice/ledger/chain/block'
import { blocksFrom, readHead, recordsFrom } from '@sluice/ledger/chain/read'
import { restoreLimits } from '@sluice/ledger/query/restore-limits'
import { decode } from '@sluice/ledger/records/decoding'
import { Names } from '@sluice/ledger/records/names'
import type { LedgerRecord } from '@sluice/ledger/records/record'
import { chainHash } from '@sluice/ledger/store/chain-hash'
import { APPROVAL_WINDOW_MS, digestCharge } from '@sluice/ledger/store/postgres/batch'
import type { PostgresConnections } from '@sluice/ledger/store/postgres/connections'
import { insertRows } from '@sluice/ledger/store/postgres/insert-rows'
import { digestOwner } from '@sluice/ledger/store/postgres/session-rows'
import { SharedRows } from '@sluice/ledger/store/postgres/shared-rows'
import { verifyChains } from '@sluice/ledger/store/postgres/verify-chains'
import { type MirroredRow, MirroredTables } from '@sluice/ledger/store/sqlite/mirrored-tables'
import { openDatabase } from '@sluice/ledger/store/sqlite/open'
import { Vault } from '@sluice/ledger/store/vault'
import { checkDropped } from '@sluice/ledger/verify/dropped-records'
import { verifyLedger } from '@sluice/ledger/verify/verify'
import {
  type CounterSnapshot,
  isRecordedName,
  MemoryCounters,
} from '@sluice/policy/counters/memory-counters'
import { WINDOW_SECONDS_MAX } from '@sluice/policy/language/limits'
import { OperationError } from '@sluice/policy/structures/operation-error'
import { formatDecimal } from '@sluice/policy/values/decimal'
import { openGateStore } from './gate-store.ts'
import { createHider } from './open-ledger.ts'
import {
  SHARED_GATE_TABLES,
  SHARED_GRANT_TABLES,
  SHARED_NAME_TABLES,
  SHARED_PEOPLE_TABLES,
} from './shared-tables.ts'
import { readState } from './state-file.ts'

export interface MovedParts {
  readonly data: string
  /** The name of the gate from now on. */
  readonly gate: string
  /** Of the cluster: for the rows that gates share, and for what is sealed in them. */
  readonly rowKey: Buffer
  readonly sealingKey: Buffer
  readonly ledger: DatabaseSync
  readonly target: PostgresConnections
}

/** Events of one counter that are moved; neighbours are merged: stricter, never looser. */
const COUNTER_EVENTS_MAX = 1_000
/** How long labels are kept that no session of their principal uses. */
const LABELS_KEPT_MS = 86_400_000
/** Rows of one change. */
const ROWS_AT_ONCE = 5_000

/** What keeps this ledger from being moved; throws it. */
export function checkMovable(ledger: DatabaseSync): void {
  const { problems } = verifyLedger(ledger)
  if (problems.length > 0)
    throw new OperationError(
      `the ledger does not verify: ${problems[0]?.message}`,
      'see `sluice ledger verify`; only a ledger that verifies is moved',
    )
  const open = new Set<number>()
  for (const record of recordsFrom(ledger, readHead(ledger).open)) {
    if (record.kind === 'intent') open.add(record.seq)
    if (record.kind === 'outcome') open.delete(record.intent)
  }
  if (open.size > 0)
    throw new OperationError(
      `the gate did not end well: ${open.size} calls have no outcome`,
      'start it once without `store:` and stop it with `sluice stop`, so that it recovers',
    )
}

/** How many of each were moved. */
export interface MovedCounts {
  /** Records of the ledger. */
  readonly records: number
  /** Rows of tables. */
  readonly rows: number
  /** Charges of limits. */
  readonly charges: number
  /** Principals with labels. */
  readonly principals: number
}

export async function moveToStore(parts: MovedParts): Promise<MovedCounts> {
  const { data, gate, ledger, target } = parts
  const records = await moveLedger(parts)
  using store = openGateStore(data)
  using identity = openDatabase(identityFile(data))
  const rows = await moveRows(parts, store, identity)
  const charges = await moveCharges(parts, ledger, store)
  const principals = await moveLabels(target, store)
  const [chain] = await verifyChains(target, {
    noted: [],
    restores: [],
    checkBase: (base) => checkDropped(base, undefined),
  })
  if (chain?.gate !== gate || chain.records !== records || chain.problems.length > 0)
    throw new Error(`the chain does not verify in the store: ${chain?.problems.join('; ')}`)
  return { records, rows, charges, principals }
}

const KINDS = { intent: 'i', refusal: 'r', outcome: 'o', event: 'e' } as const

async function moveLedger({ gate, ledger, target }: MovedParts): Promise<number> {
  const head = readHead(ledger)
  await insertRows(
    target,
    'sluice.gates',
    ['gate', 'epoch', 'seq', 'head', 'open_from', 'state', 'beat_at'],
    [
      [
        gate,
        0,
        head.seq,
        Buffer.from(head.hash, 'latin1'),
        head.seq + 1,
        'stopped',
        new Date(0).toISOString(),
      ],
    ],
  )
  const { checkpoint, hash, seq } = readBase(ledger)
  if (checkpoint !== undefined) {
    const row = [gate, seq, Buffer.from(hash, 'latin1'), checkpoint]
    await insertRows(target, 'sluice.ledger_base', ['gate', 'seq', 'hash', 'checkpoint'], [row])
  }
  const columns = ['gate', 'seq', 'epoch', 'at', 'kind', 'id', 'body', 'hash']
  return insertRows(target, 'sluice.ledger', columns, ledgerRows(gate, ledger))
}

function* ledgerRows(gate: string, ledger: DatabaseSync): Generator<readonly unknown[]> {
  const base = readBase(ledger)
  let last = base.hash
  for (const { data } of blocksFrom(ledger, base.seq + 1))
    for (const span of listRecordSpans(data)) {
      const text = recordText(data, span)
      const record: LedgerRecord = decode(text)
      last = chainHash(last, text)
      const id = 'callId' in record ? record.callId : ''
      const at = new Date(record.atMs).toISOString()
      const hash = Buffer.from(last, 'latin1')
      yield [gate, record.seq, 0, at, KINDS[record.kind], id, Buffer.from(text), hash]
    }
}

async function moveRows(
  { data, gate, rowKey, sealingKey, target }: MovedParts,
  store: DatabaseSync,
  identity: DatabaseSync,
): Promise<number> {
  const tables = new MirroredTables(() => {})
  tables.add(store, SHARED_GATE_TABLES)
  using names = new Names(data)
  tables.add(names.database, SHARED_NAME_TABLES)
  tables.add(identity, [...SHARED_GRANT_TABLES, ...SHARED_PEOPLE_TABLES])
  const vaults = {
    from: new Vault(InstallationKey.at(data).derive('approvals', 32)),
    to: new Vault(new InstallationKey(sealingKey).derive('approvals', 32)),
  }
  const rows = tables.readAll().map((row) => (row.kind === 'approvals' ? reseal(row, vaults) : row))
  const shared = new SharedRows({ connections: target, gate, key: rowKey, epoch: () => 0 })
  await shared.readNews(() => {})
  for (let at = 0; at < rows.length; at += ROWS_AT_ONCE)
    await shared.change(rows.slice(at, at + ROWS_AT_ONCE))
  const [found] = await target.query('SELECT count(*) AS n FROM sluice.shared')
  if (Number(found?.n) !== rows.length)
    throw new Error(`the store has ${found?.n} shared rows, and ${rows.length} were sent`)
  return rows.length
}

/** Arguments of a pending approval are sealed with the key of the installation; other gates have another. */
function reseal(row: MirroredRow, { from, to }: { from: Vault; to: Vault }): MirroredRow {
  const body = JSON.parse(row.body ?? 'null') as { id: string; args: { base64: string } | null }
  if (body?.args == null) return row
  const place = `request ${body.id}`
  const text = from.open(place, Buffer.from(body.args.base64, 'base64'))
  const base64 = Buffer.from(to.seal(place, text)).toString('base64')
  return { ...row, body: JSON.stringify({ ...body, args: { base64 } }) }
}

async function moveCharges(
  { data, gate, target }: MovedParts,
  ledger: DatabaseSync,
  store: DatabaseSync,
): Promise<number> {
  const key = InstallationKey.at(data)
  using names = new Names(data)
  const counters = new MemoryCounters({
    perLimitMax: Number.POSITIVE_INFINITY,
    recordedName: createHider(key, names).nameCounter,
  })
  const now = { wallMs: Date.now(), monotonicMs: performance.now() }
  const noted = readState(data, deriveSigningKey(key), ledger, now.wallMs)
  if (noted !== undefined) counters.load(noted.counters, now.wallMs - noted.wallMs, now)
  const longestMs = WINDOW_SECONDS_MAX * 1_000
  for (const { charges, ageMs } of restoreLimits(ledger, now.wallMs, longestMs, noted?.seq))
    counters.restore(charges, ageMs, now)
  const dumped = counters.dump(now, COUNTER_EVENTS_MAX)
  checkNamed(dumped)
  const counted = dumped.map(({ amounts, ...counter }) => ({
    ...counter,
    amounts: amounts.map(formatDecimal),
  }))
  const rows = [...counted, ...usedApprovals(store)].flatMap(({ key, windowMs, ages, amounts }) =>
    amounts.map((amount, at) => {
      const atMs = now.wallMs - Math.max(0, ages[at] as number)
      const name = Buffer.from(digestCharge({ key, windowMs }), 'latin1')
      return { name, amount, at: new Date(atMs).toISOString(), windowMs }
    }),
  )
  // By the clock of this machine; the number of the batch keeps two charges of one moment apart.
  const columns = ['key', 'at', 'gate', 'batch', 'amount']
  const count = await insertRows(
    target,
    'sluice.charge',
    columns,
    rows.map(({ name, at, amount }, batch) => [name, at, gate, -1 - batch, amount]),
  )
  const windows = new Map(rows.map(({ name, windowMs }) => [name.toString('hex'), windowMs]))
  for (const [name, windowMs] of windows)
    await target.query(
      `INSERT INTO sluice.counter (key, sum, last_at, until)
        SELECT key, sum(amount), max(at), max(at) + $2 * interval '1 ms'
        FROM sluice.charge WHERE key = $1 GROUP BY key`,
      [Buffer.from(name, 'hex'), windowMs],
    )
  return count
}

/** The store counts under keys, and of such a counter only the name in records is known. */
function checkNamed(counters: readonly CounterSnapshot[]): void {
  const unnamed = counters.filter(({ key }) => isRecordedName(key))
  if (unnamed.length === 0) return
  const leftMs = unnamed.map(({ ages, windowMs }) => windowMs - Math.min(...ages))
  throw new OperationError(
    `${unnamed.length} limits were charged before the gate last crashed and not since, so the store cannot go on with them`,
    `the last of their windows ends in ${Math.ceil(Math.max(...leftMs) / 60_000)} min: move it then`,
  )
}

/** A use of an approval is a charge in a shared store. */
function usedApprovals(store: DatabaseSync) {
  const once = store.prepare('SELECT id FROM approvals WHERE used_by IS NOT NULL').all()
  const standing = store.prepare('SELECT id, used FROM approvals_standing WHERE used > 0').all()
  return [...once.map(({ id }) => ({ id, used: 1 })), ...standing].map(({ id, used }) => ({
    key: `approval ${id}`,
    windowMs: APPROVAL_WINDOW_MS,
    ages: [0],
    amounts: [String(used)],
  }))
}

/** All that the sessions of a principal have seen counts for its next ones: stricter, never looser. */
async function moveLabels(target: PostgresConnections, store: DatabaseSync): Promise<number> {
  const seen = new Map<string, Set<string>>()
  const sql = `SELECT principal, saw FROM sessions UNION ALL SELECT principal, saw FROM principal_labels`
  for (const { principal, saw } of store.prepare(sql).all()) {
    const labels = seen.get(String(principal)) ?? new Set()
    for (const label of JSON.parse(String(saw)) as string[]) labels.add(label)
    if (labels.size > 0) seen.set(String(principal), labels)
  }
  const columns = ['owner', 'principal', 'saw', 'keep_ms']
  return insertRows(
    target,
    'sluice.session_owner',
    columns,
    [...seen].map(([principal, labels]) => [
      Buffer.from(digestOwner(principal), 'latin1'),
      principal,
      [...labels].sort(),
      LABELS_KEPT_MS,
    ]),
  )
}
