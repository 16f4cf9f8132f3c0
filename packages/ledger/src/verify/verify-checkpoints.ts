// Verifies checkpoints: which of them are trusted, whether the tree over the chain has their roots,
// and whether the checkpoint that replaces dropped records was signed, and the records dropped, by
// the gate itself. Called by verify.ts.

import { attempt } from '@sluice/policy/structures/attempt'
import { isObject } from '@sluice/policy/values/json'
import type { Base } from '../chain/base.ts'
import { eachHash } from '../chain/block.ts'
import { type Checkpoint, findCheckpointFault, readCheckpoint } from '../chain/checkpoint.ts'
import type { LocatedCheckpoint } from '../chain/checkpoint-file.ts'
import { RecordTree } from '../chain/record-tree.ts'
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

/** The trees over the chain, one for each that a checkpoint is over, compared with the roots of the checkpoints. */
export class TreeCheck {
  readonly #trees = new Map<string, RecordTree>()
  readonly #roots = new Map<number, LocatedCheckpoint[]>()
  readonly #problems: IntegrityProblem[]
  /** The last record that was added. */
  #seq: number
  /** The last record for which the tree of version 1 is compared. */
  #firstVersionUntil = 0

  constructor(
    base: Base,
    keys: readonly string[] | undefined,
    good: readonly LocatedCheckpoint[],
    problems: IntegrityProblem[],
  ) {
    this.#problems = problems
    this.#seq = base.seq
    if (base.seq > 0) {
      const dropped = this.#readBase(base, keys)
      if (dropped === undefined) return
      this.#addTree(new RecordTree(dropped))
    } else for (const version of [1, 2] as const) this.#addTree(RecordTree.empty(version))
    for (const placed of good) {
      const { before, from, seq, version } = placed.checkpoint
      if (seq <= base.seq) continue
      this.#roots.set(seq, [...(this.#roots.get(seq) ?? []), placed])
      const until = version === 1 ? seq : from
      this.#firstVersionUntil = Math.max(this.#firstVersionUntil, until)
      if (before !== undefined && from >= base.seq)
        this.#addTree(RecordTree.beginAfter(from, before))
    }
    this.#compareFirstLeaves()
  }

  add(data: Buffer): void {
    if (this.#roots.size === 0) return
    if (this.#seq >= this.#firstVersionUntil) this.#trees.delete(FIRST_VERSION)
    const trees = [...this.#trees.values()]
    eachHash(data, (hash) => {
      this.#seq++
      for (const tree of trees) if (tree.from < this.#seq) tree.add(hash)
    })
    for (const { checkpoint, where } of this.#roots.get(this.#seq) ?? []) {
      const tree = this.#trees.get(nameTree({ before: undefined, ...checkpoint }))
      if (tree === undefined)
        this.#report(`the tree of the checkpoint ${where} begins with records that were dropped`)
      else if (toHex(tree.root) !== checkpoint.root)
        this.#report(`the checkpoint ${where} has another root`)
    }
    this.#compareFirstLeaves()
  }

  /** The first leaf of a tree that begins here is the root of version 1. */
  #compareFirstLeaves(): void {
    const first = this.#trees.get(FIRST_VERSION)
    if (first === undefined) return
    for (const { before, from } of this.#trees.values())
      if (before !== undefined && from === this.#seq && toHex(first.root) !== before)
        this.#report(`the tree that begins after record ${from} has another first leaf`)
  }

  #addTree(tree: RecordTree): void {
    const name = nameTree(tree)
    if (!this.#trees.has(name)) this.#trees.set(name, tree)
  }

  #readBase(base: Base, keys: readonly string[] | undefined): Checkpoint | undefined {
    const what = `the checkpoint of the dropped records 1 to ${base.seq} is not trusted`
    try {
      const checkpoint = readCheckpoint(base.checkpoint ?? '', 'of the base')
      const isIts = checkpoint.seq === base.seq && checkpoint.head === toHex(base.hash)
      const fault = isIts
        ? explainUntrusted(checkpoint, keys)
        : 'the checkpoint is for other records'
      if (fault === undefined) return checkpoint
      this.#report(`${what}: ${fault}`)
    } catch (error) {
      this.#report(`${what}: ${(error as Error).message}`)
    }
    return undefined
  }

  #report(message: string): void {
    report(this.#problems, this.#seq, message)
  }
}

/** Checkpoints of one version are over one tree, unless the chain was begun in version 1. */
function nameTree({
  before,
  from,
  version,
}: Pick<RecordTree, 'version' | 'from' | 'before'>): string {
  return `${version} ${from} ${before}`
}

const FIRST_VERSION = nameTree({ version: 1, from: 0, before: undefined })

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
