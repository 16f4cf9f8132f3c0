// One batch of the function `admit`: its arguments (flat arrays; texts and keys concatenated as bytes, which
// `pg` sends in binary), and its answer as replies and records. The database must have chained exactly what
// was sent. Used by admission.ts.

import { hash } from 'node:crypto'
import type { LimitCharge, Receipt } from '@sluice/policy/calls/counters'
import { formatDecimal, ONE, parseDecimal, ZERO } from '@sluice/policy/values/decimal'
import type {
  AdmissionReply,
  AdmissionRequest,
  ApprovalUseRequest,
  SessionCheck,
} from '../admission.ts'
import { chainHash } from '../chain-hash.ts'
import type { Row } from './connections.ts'

/** `i`: intent, `r`: refusal, `o`: outcome, `e`: event. */
export type RecordKind = 'i' | 'r' | 'o' | 'e'

/** A record for this gate's chain; `body` follows its number. */
export interface ChainRecord {
  readonly kind: RecordKind
  readonly id: string
  readonly body: string
}

export interface ChainHead {
  readonly seq: number
  /** 32 bytes, latin1. */
  readonly hash: string
}

export interface WrittenRecord extends ChainRecord {
  readonly seq: number
}

/** Of the database: where the charges of the call are. */
export interface SharedReceipt extends Receipt {
  readonly at: unknown
  readonly batch: string
}

/** A call, a probe, or a record as it is. */
export interface QueuedItem extends ChainRecord {
  readonly isProbe: boolean
  readonly charges: readonly LimitCharge[]
  readonly approval: boolean
  readonly checks: readonly SessionCheck[]
  /** Of the shared state, when the call was decided. */
  readonly stamp: number
  readonly atMs: number
  /** Once it is aborted, the record is not sent any more. */
  readonly signal?: AbortSignal | undefined
  readonly answer: (reply: AdmissionReply) => void
}

/** A record without a call: nothing is charged. */
export function toRowItem(record: ChainRecord, answer: QueuedItem['answer']): QueuedItem {
  return {
    ...record,
    isProbe: false,
    charges: [],
    approval: false,
    checks: [],
    stamp: 0,
    atMs: 0,
    answer,
  }
}

/** A call or a probe. Throws if its intent cannot be recorded. */
export function toCallItem<Entry>(
  parts: {
    readonly encodeIntent: (entry: Entry) => string
    readonly stamp: () => number
    readonly usesOf: (approval: ApprovalUseRequest) => number | undefined
  },
  request: AdmissionRequest<Entry>,
  answer: QueuedItem['answer'],
): QueuedItem {
  const item = { kind: 'i', stamp: parts.stamp(), atMs: request.now.monotonicMs, answer } as const
  const { charges } = request
  if (request.mode === 'probe') {
    const { checks = [] } = request
    return { ...item, id: '', body: '', isProbe: true, charges, approval: false, checks }
  }
  const { approval, callId: id, checks = [], entry } = request
  const uses = approval === undefined ? [] : approvalCharges(approval, parts.usesOf(approval))
  const body = parts.encodeIntent(entry)
  const all = uses.length === 0 ? charges : [...charges, ...uses]
  return {
    ...item,
    id,
    body,
    isProbe: false,
    charges: all,
    approval: approval !== undefined,
    checks,
  }
}

/** Of calls that were written after their callers were told that they are not made: they cost nothing. */
export function undoneCharges(
  batch: readonly QueuedItem[],
  written: readonly WrittenRecord[],
): Receipt {
  const isWritten = new Set(written.map(({ id }) => id))
  const undone = batch.filter(({ id, kind }) => kind === 'i' && isWritten.has(id))
  return { charges: undone.flatMap(({ charges }) => charges), atMs: 0 }
}

/** Where the charges are, and what they are, as arguments of `give_back`. */
export function encodeRefund({ at, batch, charges }: SharedReceipt): unknown[] {
  const keys = Buffer.from(charges.map(digestCharge).join(''), 'latin1')
  return [batch, at, keys, toArray(charges.map(({ amount }) => formatDecimal(amount)))]
}

export function toWrittenReply(sequence: number): AdmissionReply {
  return { status: 'admitted', sequence, receipt: { charges: [], atMs: 0 } }
}

export function encodeBatch(batch: readonly QueuedItem[]): unknown[] {
  let kinds = ''
  const bodies: Buffer[] = []
  const lengths: number[] = []
  const counters = new Map<string, number>()
  const windows: number[] = []
  const counts: number[] = []
  const keys: number[] = []
  const max: string[] = []
  const amounts: string[] = []
  const owners = new Map<string, number>()
  const checkCounts: number[] = []
  const checkOwners: number[] = []
  const versions: string[] = []
  const counterOf = (charge: LimitCharge): number => {
    const digest = digestCharge(charge)
    const known = counters.get(digest)
    if (known !== undefined) return known
    counters.set(digest, windows.push(charge.windowMs))
    return windows.length
  }
  for (const { body, charges, checks, isProbe, kind } of batch) {
    kinds += isProbe ? 'p' : kind
    const bytes = Buffer.from(body)
    bodies.push(bytes)
    lengths.push(bytes.length)
    counts.push(charges.length)
    for (const charge of charges) {
      keys.push(counterOf(charge))
      max.push(formatDecimal(charge.max))
      amounts.push(formatDecimal(charge.amount))
    }
    checkCounts.push(checks.length)
    for (const { owner, version } of checks) {
      if (!owners.has(owner)) owners.set(owner, owners.size + 1)
      checkOwners.push(owners.get(owner) as number)
      versions.push(version)
    }
  }
  return [
    kinds,
    batch.map(({ id }) => id),
    Buffer.concat(bodies),
    toArray(lengths),
    toBytes(counters),
    toArray(windows),
    toArray(counts),
    toArray(keys),
    toArray(max),
    toArray(amounts),
    toBytes(owners),
    toArray(checkCounts),
    toArray(checkOwners),
    toArray(versions),
  ]
}

function toBytes(digests: ReadonlyMap<string, number>): Buffer {
  return Buffer.from([...digests.keys()].join(''), 'latin1')
}

function toArray(numbers: readonly (number | string)[]): string {
  return `{${numbers.join(',')}}`
}

/** What the database made of a batch. */
export interface BatchResult {
  /** One for each item of the batch, in its order. */
  readonly replies: readonly AdmissionReply[]
  /** The records of the items that were admitted. */
  readonly written: readonly WrittenRecord[]
  /** The end of the chain in the database. */
  readonly head: ChainHead
  /** The database has another chain than the one that was sent: another gate writes under this name. */
  readonly isForked: boolean
}

export function readBatchResult(
  batch: readonly QueuedItem[],
  before: ChainHead,
  row: Row,
): BatchResult {
  const full = new Map(
    (JSON.parse(String(row.misfits)) as FullRow[]).map((limit) => [limit[0] - 1, limit]),
  )
  const written: WrittenRecord[] = []
  let { seq, hash: last } = before
  const replies = batch.map((item, at): AdmissionReply => {
    const limit = full.get(at)
    if (limit !== undefined) return toFull(item, limit)
    if (item.isProbe) return { status: 'fits' }
    seq++
    last = chainHash(last, `[1,${seq}${item.body}`)
    written.push({ kind: item.kind, id: item.id, body: item.body, seq })
    const receipt: SharedReceipt = {
      charges: item.charges,
      atMs: item.atMs,
      at: row.at,
      batch: String(row.batch),
    }
    return { status: 'admitted', sequence: seq, receipt }
  })
  const head = toHead(row)
  return { replies, written, head, isForked: head.seq !== seq || head.hash !== last }
}

/** Records as the database has them, and the hash after the last. */
export function readWritten(
  rows: readonly Row[],
  before: ChainHead,
): { readonly written: readonly WrittenRecord[]; readonly last: string } {
  let last = before.hash
  const written = rows.map((row): WrittenRecord => {
    const [seq, text] = [Number(row.seq), (row.body as Buffer).toString('utf8')]
    last = chainHash(last, text)
    const body = text.slice(`[1,${seq}`.length)
    return { seq, kind: row.kind as RecordKind, id: String(row.id), body }
  })
  return { written, last }
}

/** The number of the item, from 1; the charge that did not fit, or -1 if its session has changed; room and wait of each charge. */
type FullRow = readonly [number, number, readonly (readonly [string, number])[]]

/** Longer than any approval lasts. */
export const APPROVAL_WINDOW_MS = 400 * 86_400_000

/** The use of an approval is a charge: once, or as often as a standing one says. */
function approvalCharges({ id }: ApprovalUseRequest, uses: number | undefined): LimitCharge[] {
  if (uses === undefined) return []
  const max = { units: BigInt(uses), scale: 0 }
  return [{ key: `approval ${id}`, kind: 'rate', windowMs: APPROVAL_WINDOW_MS, max, amount: ONE }]
}

/** The counter of a charge: 32 bytes (latin1), whatever its name is. */
export function digestCharge({ key, windowMs }: Pick<LimitCharge, 'key' | 'windowMs'>): string {
  return hash('sha256', `${windowMs} ${key}`, 'binary')
}

function toFull({ approval, charges }: QueuedItem, [, refused, room]: FullRow): AdmissionReply {
  if (refused < 0) return { status: 'changed' }
  if (approval && refused === charges.length - 1 && charges.at(-1)?.key.startsWith('approval '))
    return { status: 'approval-used' }
  const limits = room.slice(0, approval ? charges.length - 1 : charges.length)
  return {
    status: 'full',
    refused,
    room: limits.map(([left, waitMs], at) => {
      const remaining = parseDecimal(left) ?? ZERO
      const retryAfterMs = waitMs < 0 ? Number.POSITIVE_INFINITY : waitMs
      return { passes: waitMs === 0 && at !== refused, remaining, retryAfterMs }
    }),
  }
}

export function encodeHead({ seq, hash: last }: ChainHead): unknown[] {
  return [seq, Buffer.from(last, 'latin1')]
}

export function toHead(row: Row): ChainHead {
  return { seq: Number(row.seq), hash: (row.head as Buffer).toString('latin1') }
}
