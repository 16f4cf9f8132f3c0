// Proves one record to a holder of only a checkpoint (inclusion proof): the record's text, the hash
// before it, and the path from its leaf to the signed root. It reveals nothing of other records but
// hashes.

import type { DatabaseSync } from 'node:sqlite'
import { parseObject } from '@sluice/policy/values/json'
import { readBase, restoreBaseTree } from '../chain/base.ts'
import { eachHash, listRecordSpans, recordText } from '../chain/block.ts'
import type { Checkpoint } from '../chain/checkpoint.ts'
import { auditPath, hashLeaf, Peaks, rootByPath, rootOfRange } from '../chain/merkle.ts'
import { blocksFrom } from '../chain/read.ts'
import { decode } from '../records/decoding.ts'
import { LedgerError } from '../records/errors.ts'
import { PROOF_TEXT_LENGTH_MAX, SUBTREE_LEAVES } from '../records/limits.ts'
import type { LedgerRecord } from '../records/record.ts'
import { chainHash, fromHex, toHex } from '../store/chain-hash.ts'

export interface InclusionProof {
  readonly version: 1
  readonly seq: number
  /** The text that was hashed. */
  readonly record: string
  /** The chain's hash before it, hex. */
  readonly previous: string
  /** Records in the checkpoint that it is for. */
  readonly size: number
  /** The lowest first, hex. */
  readonly path: readonly string[]
}

/** The root over the `SUBTREE_LEAVES` leaves from `first` on, if an index knows it. */
export type KnownSubtree = (first: number) => string | undefined

export function proveRecord(
  database: DatabaseSync,
  seq: number,
  size: number,
  known: KnownSubtree = () => undefined,
): InclusionProof {
  const base = readBase(database)
  if (seq > size || seq <= base.seq) throw notThere(seq, seq > size ? size : base.seq, seq > size)
  const [block] = [...takeFirst(blocksFrom(database, seq))]
  const place = block && listRecordSpans(block.data)[seq - block.seq]
  if (block === undefined || place === undefined) throw notThere(seq, 0, false)
  const dropped = peaksByPlace(base.seq, restoreBaseTree(base).list)
  const rootOf = (from: number, to: number): string =>
    rootOfRange(from, to, (start, end) => {
      const stored = dropped.get(`${start}-${end}`)
      if (stored !== undefined) return stored
      if (end - start > SUBTREE_LEAVES || start < base.seq) return undefined
      const whole = end - start === SUBTREE_LEAVES ? known(start) : undefined
      return whole ?? rootOfLeaves(database, start, end)
    })
  const before = place.start - 4 - 32
  return {
    version: 1,
    seq,
    record: recordText(block.data, place),
    previous: block.data.toString('hex', before, before + 32),
    size,
    path: auditPath(seq - 1, size, rootOf).map(toHex),
  }
}

/**
 * The record, if proof and checkpoint agree; otherwise why not. The caller checks the signature of
 * the checkpoint.
 */
export function checkProof(
  proof: InclusionProof,
  checkpoint: Checkpoint,
): { readonly record: LedgerRecord } | { readonly fault: string } {
  if (proof.size !== checkpoint.seq)
    return {
      fault: `the proof is for a checkpoint of ${proof.size} records, this one has ${checkpoint.seq}`,
    }
  const leaf = hashLeaf(chainHash(fromHex(proof.previous), proof.record))
  const root = rootByPath(leaf, proof.seq - 1, proof.size, proof.path.map(fromHex))
  if (root === undefined || toHex(root) !== checkpoint.root)
    return {
      fault: `it does not lead to the root of the checkpoint: record ${proof.seq} is another`,
    }
  const record = decode(proof.record)
  // The proof covers the position; readers see the number in the text.
  if (record.seq !== proof.seq) return { fault: `the record says that it is ${record.seq}` }
  return { record }
}

export function readProof(text: string, where: string): InclusionProof {
  const value = text.length > PROOF_TEXT_LENGTH_MAX ? undefined : parseObject(text)
  const { version, seq, record, previous, size, path } = value ?? {}
  const isGood =
    version === 1 &&
    isCount(seq) &&
    typeof record === 'string' &&
    isHash(previous) &&
    isCount(size) &&
    Array.isArray(path) &&
    path.length <= 64 &&
    path.every(isHash)
  if (isGood) return { version, seq, record, previous, size, path } as InclusionProof
  throw new LedgerError(
    'LEDGER_CHECKPOINT',
    `\`${where}\` is not a proof`,
    'give it as `sluice ledger prove` wrote it',
  )
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0
}

function isHash(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)
}

function rootOfLeaves(database: DatabaseSync, from: number, to: number): string {
  const tree = new Peaks()
  for (const { seq, data } of blocksFrom(database, from + 1)) {
    let leaf = seq - 1
    eachHash(data, (hash) => {
      if (leaf >= from && leaf < to) tree.add(hashLeaf(hash))
      leaf++
    })
    if (leaf >= to) return tree.root
  }
  throw notThere(to, 0, false)
}

/** The peaks of what was dropped, by the leaves they cover. */
function peaksByPlace(size: number, peaks: readonly string[]): Map<string, string> {
  const places = new Map<string, string>()
  let from = 0
  for (const peak of peaks) {
    let width = 1
    while (from + width * 2 <= size) width *= 2
    places.set(`${from}-${from + width}`, peak)
    from += width
  }
  return places
}

function* takeFirst<T>(all: Iterable<T>): Generator<T> {
  for (const one of all) {
    yield one
    return
  }
}

function notThere(seq: number, bound: number, isLater: boolean): LedgerError {
  const why = isLater
    ? `the checkpoint ends with record ${bound}`
    : bound > 0
      ? `records up to ${bound} were dropped after their time`
      : 'the ledger does not have it'
  return new LedgerError(
    'LEDGER_CHECKPOINT',
    `record ${seq} cannot be proven: ${why}`,
    'name another',
  )
}
