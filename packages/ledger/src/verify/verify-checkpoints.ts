// Verifies checkpoints: which of them are trusted, whether the tree over the chain has their roots,
// and whether the checkpoint that replaces dropped records was signed, and the records dropped, by
// the gate itself. Called by verify.ts.

import { attempt } from '@sluice/policy/structures/attempt'
import { isObject } from '@sluice/policy/values/json'
import { type Base, restoreBaseTree } from '../chain/base.ts'
import { eachHash } from '../chain/block.ts'
import { type Checkpoint, findCheckpointFault, readCheckpoint } from '../chain/checkpoint.ts'
import type { LocatedCheckpoint } from '../chain/checkpoint-file.ts'
import { hashLeaf, type Peaks } from '../chain/merkle.ts'
import { decode } from '../records/decoding.ts'
import { PROBLEMS_MAX } from '../records/limits.ts'
import type { LedgerRecord } from '../records/record.ts'
import { toHex } from '../store/chain-hash.ts'
import type { IntegrityProblem } from './verifier.ts'

/** The event of a retention run: which records were dropped. */
export const RETENTION_EVENT = 'retention'

/** Selects the checkpoints with a valid signature; the others are problems. */
export function selectTrustedCheckpoints(
  all: readonly LocatedCheckpoint[],
  keys: readonly string[] | undefined,
  problems: IntegrityProblem[],
): readonly LocatedCheckpoint[] {
  return all.filter(({ checkpoint, where }) => {
    const fault = explainUntrusted(checkpoint, keys)
    if (fault !== undefined)
      report(problems, checkpoint.seq, `the checkpoint ${where} is not trusted: ${fault}`)
    return fault === undefined
  })
}

function explainUntrusted(
  checkpoint: Checkpoint,
  keys: readonly string[] | undefined,
): string | undefined {
  if (keys === undefined || keys.includes(checkpoint.key))
    return findCheckpointFault(checkpoint, undefined)
  return findCheckpointFault(checkpoint, keys[0])
}

/** The tree over the chain, compared with the roots of checkpoints. */
export class TreeCheck {
  readonly #tree: Peaks | undefined
  readonly #roots: ReadonlyMap<number, LocatedCheckpoint>
  readonly #problems: IntegrityProblem[]

  constructor(
    base: Base,
    keys: readonly string[] | undefined,
    good: readonly LocatedCheckpoint[],
    problems: IntegrityProblem[],
  ) {
    this.#problems = problems
    this.#roots = new Map(good.map((placed) => [placed.checkpoint.seq, placed]))
    this.#tree = this.#begin(base, keys)
  }

  add(data: Buffer): void {
    const tree = this.#tree
    if (tree === undefined || this.#roots.size === 0) return
    eachHash(data, (hash) => tree.add(hashLeaf(hash)))
    const placed = this.#roots.get(tree.size)
    if (placed !== undefined && toHex(tree.root) !== placed.checkpoint.root)
      report(this.#problems, tree.size, `the checkpoint ${placed.where} has another root`)
  }

  #begin(base: Base, keys: readonly string[] | undefined): Peaks | undefined {
    if (base.seq === 0) return restoreBaseTree(base)
    const what = `the checkpoint of the dropped records 1 to ${base.seq} is not trusted`
    try {
      const checkpoint = readCheckpoint(base.checkpoint ?? '', 'of the base')
      const isIts = checkpoint.seq === base.seq && checkpoint.head === toHex(base.hash)
      const fault = isIts
        ? explainUntrusted(checkpoint, keys)
        : 'the checkpoint is for other records'
      if (fault === undefined) return restoreBaseTree(base)
      report(this.#problems, base.seq, `${what}: ${fault}`)
    } catch (error) {
      report(this.#problems, base.seq, `${what}: ${(error as Error).message}`)
    }
    return undefined
  }
}

/** Claims of the ledger itself on checkpoints and dropped records. */
export class RetentionClaims {
  #droppedThrough = 0
  #signedBy: string | undefined

  add(text: string): void {
    // Called for every event; most are irrelevant.
    if (!text.includes('"start"') && !text.includes(`"${RETENTION_EVENT}"`)) return
    const record = readable(text)
    if (record?.kind !== 'event' || !isObject(record.detail)) return
    const { through, signedBy } = record.detail
    if (record.name === RETENTION_EVENT && typeof through === 'number')
      this.#droppedThrough = Math.max(this.#droppedThrough, through)
    if (record.name === 'start' && typeof signedBy === 'string') this.#signedBy = signedBy
  }

  check(base: Base, checkpoints: number | undefined, problems: IntegrityProblem[]): void {
    if (base.seq > this.#droppedThrough)
      problems.push({
        seq: 1,
        kind: 'missing',
        message: `records 1 to ${base.seq} are missing, and no event records that they were dropped`,
      })
    if (this.#signedBy !== undefined && checkpoints === 0)
      problems.push({
        seq: 0,
        kind: 'missing',
        message: 'the checkpoints that the gate has made are missing',
      })
  }
}

function report(problems: IntegrityProblem[], seq: number, message: string): void {
  if (problems.length < PROBLEMS_MAX) problems.push({ seq, kind: 'forged', message })
}

function readable(text: string): LedgerRecord | undefined {
  return attempt(() => decode(text))
}
