// Proves one record to a holder of only a checkpoint (inclusion proof): the record's text, the hash
// before it, the hashes of the records in its leaf, and the path from there to the signed root. It reveals
// nothing of other records but hashes.

import type { DatabaseSync } from 'node:sqlite'
import { parseObject } from '@sluice/policy/values/json'
import { readBase, readBaseCheckpoint } from '../chain/base.ts'
import { eachHash, listRecordSpans, recordText } from '../chain/block.ts'
import type { Checkpoint } from '../chain/checkpoint.ts'
import {
  auditPath,
  hashLeaf,
  LEAF_HASHES_MAX,
  Peaks,
  rootByPath,
  rootOfRange,
} from '../chain/merkle.ts'
import { blocksFrom } from '../chain/read.ts'
import { countLeaves, findLeaf, GROUP_RECORDS, type TreeSpan } from '../chain/record-tree.ts'
import { decode } from '../records/decoding.ts'
import { LedgerError } from '../records/errors.ts'
import { PROOF_TEXT_LENGTH_MAX } from '../records/limits.ts'
import type { LedgerRecord } from '../records/record.ts'
import { chainHash, fromHex, toHex } from '../store/chain-hash.ts'

export interface InclusionProof {
  /** That of the checkpoint. */
  readonly version: Checkpoint['version']
  readonly seq: number
  /** The text that was hashed. */
  readonly record: string
  /** The chain's hash before it, hex. */
  readonly previous: string
  /** Records in the checkpoint that it is for. */
  readonly size: number
  /** The chain's hashes after each record of its leaf, in hex; undefined in version 1, where that is its own alone. */
  readonly group?: readonly string[]
  /** The lowest first, hex. */
  readonly path: readonly string[]
}

/** Reads the chain once, from the first record of the tree that was not dropped. */
export function proveRecord(
  database: DatabaseSync,
  seq: number,
  checkpoint: Checkpoint,
): InclusionProof {
  const { from, seq: size, version } = checkpoint
  const base = readBase(database)
  if (seq > size || seq <= base.seq) throw notThere(seq, seq > size ? size : base.seq, seq > size)
  if (seq <= from) throw notProvable(seq, `the checkpoint's tree begins after record ${from}`)
  const [block] = [...takeFirst(blocksFrom(database, seq))]
  const place = block && listRecordSpans(block.data)[seq - block.seq]
  if (block === undefined || place === undefined) throw notThere(seq, 0, false)
  const leaves = new LeafReader(database, checkpoint, readBaseCheckpoint(base))
  const { first, leaf } = findLeaf(checkpoint, seq)
  const { rest, whole } = countLeaves(checkpoint)
  const before = place.start - 4 - 32
  return {
    version,
    seq,
    record: recordText(block.data, place),
    previous: block.data.toString('hex', before, before + 32),
    size,
    ...(version === 1 ? {} : { group: leaves.readGroup(first).map(toHex) }),
    path: auditPath(leaf, whole + (rest > 0 ? 1 : 0), leaves.rootOf).map(toHex),
  }
}

/** The leaves of the tree of a checkpoint, also if some of their records were dropped. */
class LeafReader {
  readonly #database: DatabaseSync
  readonly #tree: Checkpoint
  /** The checkpoint that replaces dropped records; undefined if the tree has all of its own. */
  readonly #base: Checkpoint | undefined
  /** The peaks of what was dropped, by the leaves that they cover. */
  readonly #dropped: ReadonlyMap<string, string>

  constructor(database: DatabaseSync, tree: Checkpoint, base: Checkpoint | undefined) {
    this.#database = database
    this.#tree = tree
    this.#base = base !== undefined && base.seq > tree.from ? base : undefined
    if (this.#base !== undefined && !isSameTree(this.#base, tree))
      throw notProvable(base?.seq ?? 0, 'records that its tree begins with were dropped')
    this.#dropped = peaksByPlace(this.#wholeDropped, this.#base?.peaks ?? [])
  }

  /** The root over the leaves from `from` to before `to`. */
  readonly rootOf = (from: number, to: number): string =>
    rootOfRange(from, to, (start, end) => this.#findRoot(start, end))

  /** The hashes after the records of the leaf that begins with this record. */
  readGroup(first: number): string[] {
    const { seq, version } = this.#tree
    const last = Math.min(first + GROUP_RECORDS[version] - 1, seq)
    const hashes: string[] = []
    this.#eachHash(first, last, (hash) => hashes.push(hash))
    return hashes
  }

  get #wholeDropped(): number {
    return this.#base === undefined ? 0 : countLeaves(this.#base).whole
  }

  #findRoot(start: number, end: number): string | undefined {
    const stored = this.#dropped.get(`${start}-${end}`)
    if (stored !== undefined) return stored
    if (start < this.#wholeDropped) return undefined
    const { before, from, seq, version } = this.#tree
    const hasFirst = start === 0 && before !== undefined
    if (hasFirst) return end === 1 ? hashLeaf(fromHex(before)) : undefined
    const each = GROUP_RECORDS[version]
    const firstOf = (leaf: number) => from + (leaf - (before === undefined ? 0 : 1)) * each + 1
    const leaves = new Peaks()
    let group: string[] = []
    this.#eachHash(firstOf(start), Math.min(firstOf(end) - 1, seq), (hash) => {
      if (group.push(hash) < each) return
      leaves.add(hashLeaf(group.join('')))
      group = []
    })
    if (group.length > 0) leaves.add(hashLeaf(group.join('')))
    return leaves.root
  }

  /** The hash after each of these records; the checkpoint of the dropped ones has those of a leaf that was cut. */
  #eachHash(first: number, last: number, take: (hash: string) => void): void {
    const base = this.#base
    if (base !== undefined && first <= base.seq) for (const hash of base.group) take(fromHex(hash))
    const start = Math.max(first, (base?.seq ?? 0) + 1)
    if (start > last) return
    for (const { data, seq: firstOfBlock } of blocksFrom(this.#database, start)) {
      let seq = firstOfBlock
      eachHash(data, (hash) => {
        if (seq >= start && seq <= last) take(hash)
        seq++
      })
      if (seq > last) return
    }
    throw notThere(last, 0, false)
  }
}

function isSameTree(one: TreeSpan, other: TreeSpan): boolean {
  return one.version === other.version && one.from === other.from
}

/**
 * The record, if proof and checkpoint agree; otherwise why not. The caller checks the signature of
 * the checkpoint.
 */
export function checkProof(
  proof: InclusionProof,
  checkpoint: Checkpoint,
): { readonly record: LedgerRecord } | { readonly fault: string } {
  const { seq, size } = proof
  if (size !== checkpoint.seq || proof.version !== checkpoint.version)
    return {
      fault: `the proof is for a checkpoint of version ${proof.version} over ${size} records, this one has version ${checkpoint.version} and ${checkpoint.seq}`,
    }
  if (seq <= checkpoint.from)
    return { fault: `the checkpoint's tree begins after record ${checkpoint.from}` }
  const own = chainHash(fromHex(proof.previous), proof.record)
  const { first, leaf } = findLeaf(checkpoint, seq)
  const { rest, whole } = countLeaves(checkpoint)
  const group = proof.group?.map(fromHex) ?? [own]
  const length = Math.min(GROUP_RECORDS[checkpoint.version], size - first + 1)
  const root =
    group.length === length && group[seq - first] === own
      ? rootByPath(
          hashLeaf(group.join('')),
          leaf,
          whole + (rest > 0 ? 1 : 0),
          proof.path.map(fromHex),
        )
      : undefined
  if (root === undefined || toHex(root) !== checkpoint.root)
    return { fault: `it does not lead to the root of the checkpoint: record ${seq} is another` }
  const record = decode(proof.record)
  // The proof covers the position; readers see the number in the text.
  if (record.seq !== seq) return { fault: `the record says that it is ${record.seq}` }
  return { record }
}

export function readProof(text: string, where: string): InclusionProof {
  const value = text.length > PROOF_TEXT_LENGTH_MAX ? undefined : parseObject(text)
  const { version, seq, record, previous, size, group, path } = value ?? {}
  const isGood =
    (version === 1 ? group === undefined : version === 2 && isHashList(group, LEAF_HASHES_MAX)) &&
    isCount(seq) &&
    typeof record === 'string' &&
    isHash(previous) &&
    isCount(size) &&
    isHashList(path, PATH_LENGTH_MAX)
  if (isGood) {
    const known = { version, seq, record, previous, size, path }
    return (version === 1 ? known : { ...known, group }) as InclusionProof
  }
  throw new LedgerError(
    'LEDGER_CHECKPOINT',
    `\`${where}\` is not a proof`,
    'give it as `sluice ledger prove` wrote it',
  )
}

/** Hashes in a path: a tree has at most 2^52 leaves. */
const PATH_LENGTH_MAX = 64

function isHashList(value: unknown, lengthMax: number): boolean {
  return Array.isArray(value) && value.length <= lengthMax && value.every(isHash)
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0
}

function isHash(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)
}

/** Peaks (hex) by the leaves that they cover. */
function peaksByPlace(size: number, peaks: readonly string[]): Map<string, string> {
  const places = new Map<string, string>()
  let from = 0
  for (const peak of peaks) {
    let width = 1
    while (from + width * 2 <= size) width *= 2
    places.set(`${from}-${from + width}`, fromHex(peak))
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
  return notProvable(seq, why)
}

function notProvable(seq: number, why: string): LedgerError {
  return new LedgerError(
    'LEDGER_CHECKPOINT',
    `record ${seq} cannot be proven: ${why}`,
    'name another',
  )
}
