// A checkpoint: the number of records, the last hash of the chain and the root of the Merkle tree
// over it, signed with the key of the installation. With one, anyone can detect a change of the
// ledger before it, and can verify one record without the others. Read strictly: it comes from
// outside.

import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { memoize } from '@sluice/policy/structures/memoize'
import { isObject } from '@sluice/policy/values/json'
import { LedgerError } from '../records/errors.ts'
import { CHECKPOINT_TEXT_LENGTH_MAX } from '../records/limits.ts'
import { fromHex, toHex } from '../store/chain-hash.ts'
import { Peaks, peakCount } from './merkle.ts'

export interface Checkpoint {
  readonly version: 1
  /** Covers records 1 to this one. */
  readonly seq: number
  readonly time: string
  /** The hash after record `seq`, hex. */
  readonly head: string
  /** The root of the tree over all hashes up to there, in hex. */
  readonly root: string
  /**
   * Of the same tree, hex: not signed, since the root is computed from them. A tree continues from
   * them.
   */
  readonly peaks: readonly string[]
  /** The signer's key, base64url. */
  readonly key: string
  readonly signature: string
}

/** Signs for the installation; passed in when the ledger is opened. */
export interface Signer {
  readonly publicKey: string
  sign(text: string): string
}

export function makeCheckpoint(
  at: { readonly seq: number; readonly head: string; readonly tree: Peaks; readonly nowMs: number },
  signer: Signer,
): Checkpoint {
  const unsigned = {
    version: 1,
    seq: at.seq,
    time: new Date(at.nowMs).toISOString(),
    head: toHex(at.head),
    root: toHex(at.tree.root),
    peaks: at.tree.list.map(toHex),
    key: signer.publicKey,
  } as const
  return { ...unsigned, signature: signer.sign(toStatement(unsigned)) }
}

/** The signed text: documented, so that others can verify it. */
function toStatement(of: Omit<Checkpoint, 'signature' | 'peaks'>): string {
  const { seq, time, head, root, key } = of
  return `sluice checkpoint 1\nseq ${seq}\ntime ${time}\nhead ${head}\nroot ${root}\nkey ${key}\n`
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
  const tree = new Peaks(checkpoint.seq, checkpoint.peaks.map(fromHex))
  if (toHex(tree.root) !== checkpoint.root) return 'its peaks do not make its root'
  const statement = Buffer.from(toStatement(checkpoint))
  const signature = Buffer.from(checkpoint.signature, 'base64url')
  if (!verify(null, statement, readPublicKey(checkpoint.key), signature))
    return 'its signature does not fit'
  return undefined
}

export function checkpointText(checkpoint: Checkpoint): string {
  return JSON.stringify(checkpoint)
}

export function readCheckpoint(text: string, where: string): Checkpoint {
  const value = parseCheckpointJson(text, where)
  const { version, seq, time, head, root, peaks, key, signature } = value
  const isGood =
    version === 1 &&
    typeof seq === 'number' &&
    Number.isSafeInteger(seq) &&
    seq > 0 &&
    isText(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) &&
    isText(head, HEX) &&
    isText(root, HEX) &&
    Array.isArray(peaks) &&
    peaks.length === peakCount(seq) &&
    peaks.every((peak) => isText(peak, HEX)) &&
    isText(key, KEY) &&
    isText(signature, /^[\w-]{86}$/)
  if (!isGood) throw unreadable(where, 'it is not a checkpoint of a known version')
  return { version, seq, time, head, root, peaks, key, signature } as Checkpoint
}

const HEX = /^[0-9a-f]{64}$/
const KEY = /^[\w-]{43}$/

export function isPublicKey(text: string): boolean {
  return KEY.test(text)
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
