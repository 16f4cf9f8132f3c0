// A checkpoint: the number of records, the last hash of the chain and the root of the Merkle tree
// over it, signed with the key of the installation. With one, anyone can detect a change of the
// ledger before it, and can verify one record without the others. Read strictly: it comes from
// outside.

import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { memoize } from '@sluice/policy/structures/memoize'
import { isObject } from '@sluice/policy/values/json'
import { LedgerError } from '../records/errors.ts'
import { CHECKPOINT_TEXT_LENGTH_MAX } from '../records/limits.ts'
import { toHex } from '../store/chain-hash.ts'
import { peakCount } from './merkle.ts'
import { countLeaves, RecordTree } from './record-tree.ts'

export interface Checkpoint {
  /** The version of the tree, see record-tree.ts. */
  readonly version: 1 | 2
  /** Covers records 1 to this one. */
  readonly seq: number
  /** The tree begins after this record: 0, or that of the last checkpoint of version 1. */
  readonly from: number
  readonly time: string
  /** The hash after record `seq`, hex. */
  readonly head: string
  /** The root of the tree over all hashes up to there, in hex. */
  readonly root: string
  /**
   * `before`, `peaks` and `group` are not signed, since the root is computed from them. A tree continues from them. This
   * is the root up to `from`, hex, which is the first leaf; undefined if `from` is 0.
   */
  readonly before?: string
  /** The peaks of the tree over the leaves that have all their records, hex. */
  readonly peaks: readonly string[]
  /** Hashes of the records in the last leaf, hex; empty if it has all its records. */
  readonly group: readonly string[]
  /** The signer's key, base64url. */
  readonly key: string
  readonly signature: string
}

/** Signs for the installation; passed in when the ledger is opened. */
export interface Signer {
  readonly publicKey: string
  sign(text: string): string
}

export interface CheckpointParts {
  /** Over all records that the checkpoint covers. */
  readonly tree: RecordTree
  /** The hash after the last of them, 32 bytes as latin1. */
  readonly head: string
  readonly nowMs: number
}

export function makeCheckpoint({ head, nowMs, tree }: CheckpointParts, signer: Signer): Checkpoint {
  const { before, from, group, peaks, root, seq, version } = tree
  const unsigned = {
    version,
    seq,
    from,
    time: new Date(nowMs).toISOString(),
    head: toHex(head),
    root: toHex(root),
    ...(before === undefined ? {} : { before }),
    peaks: peaks.map(toHex),
    group: group.map(toHex),
    key: signer.publicKey,
  }
  return { ...unsigned, signature: signer.sign(toStatement(unsigned)) }
}

/** The signed text: documented, so that others can verify it. */
function toStatement(of: Omit<Checkpoint, 'signature' | 'before' | 'peaks' | 'group'>): string {
  const { from, head, key, root, seq, time, version } = of
  const begin = version === 1 ? '' : `from ${from}\n`
  return `sluice checkpoint ${version}\nseq ${seq}\n${begin}time ${time}\nhead ${head}\nroot ${root}\nkey ${key}\n`
}

/**
 * Why it is not trusted; undefined if it is. If `key` is undefined, the key it names is accepted.
 */
export function findCheckpointFault(
  checkpoint: Checkpoint,
  key: string | undefined,
): string | undefined {
  if (key !== undefined && checkpoint.key !== key)
    return `it is signed with the key ${checkpoint.key}, not with ${key}`
  if (toHex(new RecordTree(checkpoint).root) !== checkpoint.root)
    return 'its peaks do not make its root'
  const statement = Buffer.from(toStatement(checkpoint))
  const signature = Buffer.from(checkpoint.signature, 'base64url')
  if (!verify(null, statement, readPublicKey(checkpoint.key), signature))
    return 'its signature does not fit'
  return undefined
}

export function checkpointText(checkpoint: Checkpoint): string {
  if (checkpoint.version === 2) return JSON.stringify(checkpoint)
  const { from: _from, group: _group, ...first } = checkpoint
  return JSON.stringify(first)
}

export function readCheckpoint(text: string, where: string): Checkpoint {
  const value = parseCheckpointJson(text, where)
  const { version, seq, time, head, root, before, peaks, key, signature } = value
  const { from, group } = version === 1 ? { from: 0, group: [] } : value
  const isGood =
    (version === 1 || version === 2) &&
    isCount(from) &&
    isCount(seq) &&
    seq > from &&
    isText(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) &&
    isText(head, HEX) &&
    isText(root, HEX) &&
    (from === 0 ? before === undefined : isText(before, HEX)) &&
    isHexList(peaks, peakCount(countLeaves({ version, from, seq }).whole)) &&
    isHexList(group, countLeaves({ version, from, seq }).rest) &&
    isText(key, KEY) &&
    isText(signature, /^[\w-]{86}$/)
  if (!isGood) throw unreadable(where, 'it is not a checkpoint of a known version')
  const first = from === 0 ? {} : { before }
  return {
    version,
    seq,
    from,
    time,
    head,
    root,
    ...first,
    peaks,
    group,
    key,
    signature,
  } as Checkpoint
}

const HEX = /^[0-9a-f]{64}$/
const KEY = /^[\w-]{43}$/

export function isPublicKey(text: string): boolean {
  return KEY.test(text)
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

function isHexList(value: unknown, length: number): boolean {
  return Array.isArray(value) && value.length === length && value.every((one) => isText(one, HEX))
}

function isText(value: unknown, form: RegExp): value is string {
  return typeof value === 'string' && form.test(value)
}

function parseCheckpointJson(text: string, where: string): Record<string, unknown> {
  if (text.length > CHECKPOINT_TEXT_LENGTH_MAX)
    throw unreadable(where, `it is longer than ${CHECKPOINT_TEXT_LENGTH_MAX} characters`)
  try {
    const value: unknown = JSON.parse(text)
    if (isObject(value)) return value as Record<string, unknown>
  } catch {
    // Reported below.
  }
  throw unreadable(where, 'it is not a JSON object')
}

function unreadable(where: string, why: string): LedgerError {
  return new LedgerError(
    'LEDGER_CHECKPOINT',
    `the checkpoint ${where} cannot be read: ${why}`,
    'give it as the gate wrote it, one JSON object a line',
  )
}

/** Bounded: a file may have a new key on every line. */
const readPublicKey = memoize(
  (key): KeyObject =>
    createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: key }, format: 'jwk' }),
  16,
)
