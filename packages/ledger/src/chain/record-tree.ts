// The Merkle tree over the hashes of the chain, as the two versions of checkpoints have it. In version 1 a leaf is the
// hash of one record; in version 2 it is the hashes of 64 records, so that a call costs a sixteenth of the hashes. A
// chain that was begun in version 1 goes on in version 2: the root so far is the first leaf.

import { fromHex, toHex } from '../store/chain-hash.ts'
import type { Checkpoint } from './checkpoint.ts'
import { hashLeaf, LEAF_HASHES_MAX, Peaks } from './merkle.ts'

/** Records in one leaf, by the version of the checkpoint. */
export const GROUP_RECORDS = { 1: 1, 2: LEAF_HASHES_MAX } as const

/** What a tree covers: it follows from its first and last record how many leaves it has. */
export type TreeSpan = Pick<Checkpoint, 'version' | 'from' | 'seq'>

/** Leaves with all their records, and the records of the one that is begun. */
export function countLeaves({ from, seq, version }: TreeSpan): { whole: number; rest: number } {
  const each = GROUP_RECORDS[version]
  return {
    whole: getFirstLeaf(from) + Math.floor((seq - from) / each),
    rest: (seq - from) % each,
  }
}

/** The leaf of a record, and the first record in that leaf. */
export function findLeaf(
  { from, version }: TreeSpan,
  seq: number,
): { leaf: number; first: number } {
  const each = GROUP_RECORDS[version]
  const group = Math.floor((seq - from - 1) / each)
  return { leaf: getFirstLeaf(from) + group, first: from + group * each + 1 }
}

/** The number of the first leaf that has records: what was before `from` is one leaf. */
function getFirstLeaf(from: number): 0 | 1 {
  return from > 0 ? 1 : 0
}

export class RecordTree {
  readonly version: Checkpoint['version']
  /** The tree begins after this record. */
  readonly from: number
  /** The root over the records up to `from`, hex: the first leaf. */
  readonly before: string | undefined
  readonly #leaves: Peaks
  /** Hashes of the leaf that is begun. */
  #group: string[]
  #seq: number

  constructor(of: Pick<Checkpoint, 'version' | 'from' | 'seq' | 'before' | 'peaks' | 'group'>) {
    this.version = of.version
    this.from = of.from
    this.before = of.before
    this.#leaves = new Peaks(countLeaves(of).whole, of.peaks.map(fromHex))
    this.#group = of.group.map(fromHex)
    this.#seq = of.seq
  }

  /** A tree without records that begins with the first of the chain. */
  static empty(version: Checkpoint['version']): RecordTree {
    return new RecordTree({ version, from: 0, seq: 0, peaks: [], group: [] })
  }

  /** A tree of version 2 that begins after this record, up to which the root is `before` (hex). */
  static beginAfter(from: number, before: string): RecordTree {
    const first = toHex(hashLeaf(fromHex(before)))
    return new RecordTree({ version: 2, from, seq: from, before, peaks: [first], group: [] })
  }

  /** The tree that a gate grows after its last checkpoint, or after the one that replaces dropped records. */
  static continue(last: Checkpoint | undefined): RecordTree {
    if (last === undefined) return RecordTree.empty(2)
    return last.version === 1 ? RecordTree.beginAfter(last.seq, last.root) : new RecordTree(last)
  }

  /** The last record. */
  get seq(): number {
    return this.#seq
  }

  get peaks(): readonly string[] {
    return this.#leaves.list
  }

  /** Hashes of the leaf that is begun. */
  get group(): readonly string[] {
    return this.#group
  }

  get root(): string {
    if (this.#group.length === 0) return this.#leaves.root
    const whole = new Peaks(this.#leaves.size, this.#leaves.list)
    whole.add(hashLeaf(this.#group.join('')))
    return whole.root
  }

  /** `hash` is that of the chain after the next record. */
  add(hash: string): void {
    this.#seq++
    this.#group.push(hash)
    if (this.#group.length < GROUP_RECORDS[this.version]) return
    this.#leaves.add(hashLeaf(this.#group.join('')))
    this.#group = []
  }
}
