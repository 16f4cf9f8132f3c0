// A Merkle tree in the shape of RFC 6962; record-tree.ts says what its leaves are. A tree of any size is
// represented by its peaks, the roots of its complete subtrees from left to right, so that it grows
// without its earlier leaves. Hashes are strings of 32 bytes (latin1).

import { hash } from 'node:crypto'
import { HASH_BYTES } from '../store/chain-hash.ts'

/** Hashes in one leaf. */
export const LEAF_HASHES_MAX = 64

/** Domain separation: the byte before a leaf differs from that before a node. */
const leafBytes = Buffer.alloc(1 + LEAF_HASHES_MAX * HASH_BYTES, 0)
const nodeBytes = Buffer.alloc(1 + 2 * HASH_BYTES, 1)

/** `hashes` are one after the other, at most `LEAF_HASHES_MAX`. */
export function hashLeaf(hashes: string): string {
  const end = 1 + leafBytes.write(hashes, 1, 'latin1')
  return hash('sha256', leafBytes.subarray(0, end), 'binary')
}

function hashNode(left: string, right: string): string {
  nodeBytes.write(left, 1, 'latin1')
  nodeBytes.write(right, 1 + HASH_BYTES, 'latin1')
  return hash('sha256', nodeBytes, 'binary')
}

export class Peaks {
  readonly #peaks: string[]
  #size: number

  constructor(size = 0, peaks: readonly string[] = []) {
    this.#size = size
    this.#peaks = [...peaks]
  }

  get size(): number {
    return this.#size
  }

  get list(): readonly string[] {
    return this.#peaks
  }

  add(leaf: string): void {
    const peaks = this.#peaks
    let made = leaf
    for (let size = this.#size; size % 2 === 1; size = (size - 1) / 2)
      made = hashNode(peaks.pop() as string, made)
    peaks.push(made)
    this.#size++
  }

  get root(): string {
    const peaks = this.#peaks
    let root = peaks.at(-1)
    if (root === undefined) return hash('sha256', '', 'binary')
    for (let at = peaks.length - 2; at >= 0; at--) root = hashNode(peaks[at] as string, root)
    return root
  }
}

/** The number of peaks of a tree of this size. */
export function peakCount(size: number): number {
  let count = 0
  for (let rest = size; rest > 0; rest = Math.floor(rest / 2)) count += rest % 2
  return count
}

/** The root of the leaves from `from` to before `to`, from any source. */
export type RangeRoot = (from: number, to: number) => string

/** The siblings on the path from a leaf to the root, the lowest first. */
export function auditPath(leaf: number, size: number, rootOf: RangeRoot): string[] {
  const path: string[] = []
  let [from, to] = [0, size]
  while (to - from > 1) {
    const middle = from + largestPowerBelow(to - from)
    if (leaf < middle) {
      path.push(rootOf(middle, to))
      to = middle
    } else {
      path.push(rootOf(from, middle))
      from = middle
    }
  }
  return path.reverse()
}

/** The root computed from leaf and path; undefined if the path does not fit the index. */
export function rootByPath(
  leafHash: string,
  leaf: number,
  size: number,
  path: readonly string[],
): string | undefined {
  if (!(leaf >= 0 && leaf < size)) return undefined
  let [place, last] = [leaf, size - 1]
  let root = leafHash
  for (const neighbour of path) {
    if (last === 0) return undefined
    if (place % 2 === 1 || place === last) {
      root = hashNode(neighbour, root)
      // A node without a right sibling moves up unchanged.
      while (place % 2 === 0 && place !== 0) [place, last] = [place / 2, Math.floor(last / 2)]
    } else root = hashNode(root, neighbour)
    place = Math.floor(place / 2)
    last = Math.floor(last / 2)
  }
  return last === 0 ? root : undefined
}

/** The root over two halves whose roots are known, split as the tree splits. */
export function rootOfRange(
  from: number,
  to: number,
  known: (from: number, to: number) => string | undefined,
): string {
  const cached = known(from, to)
  if (cached !== undefined) return cached
  const middle = from + largestPowerBelow(to - from)
  return hashNode(rootOfRange(from, middle, known), rootOfRange(middle, to, known))
}

function largestPowerBelow(count: number): number {
  let power = 1
  while (power * 2 < count) power *= 2
  return power
}
