// Walks the chain and finds what was edited, removed or moved, with the number of the record. The
// whole chain for `sluice ledger verify`, compared with its checkpoints; its end at every start. A
// rewrite of everything, including checkpoints, is detected only by a checkpoint stored on another
// host.

import type { DatabaseSync } from 'node:sqlite'
import { attempt } from '@sluice/policy/structures/attempt'
import { type Base, readBase } from '../chain/base.ts'
import type { LocatedCheckpoint } from '../chain/checkpoint-file.ts'
import { blocksFrom, hashAt, readHead } from '../chain/read.ts'
import { TAIL_RECORDS_VERIFIED } from '../records/limits.ts'
import { FIRST_HASH, toHex } from '../store/chain-hash.ts'
import { type IntegrityProblem, Verifier } from './verifier.ts'
import { RetentionClaims, selectTrustedCheckpoints, TreeCheck } from './verify-checkpoints.ts'

/** What `sluice ledger verify` prints, also as `--json`. */
export interface VerificationResult {
  /** How many records were read. */
  readonly records: number
  /** The last record that retention dropped; 0 if none was. */
  readonly dropped: number
  /** The number and the hash (hex) of the last record. To store it on another host makes later rewrites visible. */
  readonly head: TrustedHead
  /** The record that the newest valid checkpoint covers; 0 if there is none. */
  readonly checkpoint: number
  /** What was edited, removed or moved, in the order of the records; empty if the chain is intact. */
  readonly problems: readonly IntegrityProblem[]
}

/** A head that was stored on another host. */
export interface TrustedHead {
  readonly seq: number
  readonly hash: string
}

export interface VerifyOptions {
  readonly noted?: readonly TrustedHead[]
  /** The checkpoints next to the ledger and in other stores; undefined if they were not read. */
  readonly checkpoints?: readonly LocatedCheckpoint[]
  /** Accepted signers; undefined: any key they name. */
  readonly keys?: readonly string[]
  /**
   * Also checks the roots of checkpoints. The chain hash in them finds every change; this finds a
   * signer that signed another tree, and takes twice as long.
   */
  readonly tree?: boolean
}

export function verifyLedger(
  database: DatabaseSync,
  options: VerifyOptions = {},
): VerificationResult {
  const { noted = [], checkpoints, keys } = options
  database.exec('BEGIN')
  try {
    const base = readBase(database)
    const claims = new RetentionClaims()
    const verifier = new Verifier(base.seq + 1, base.hash, (text) => claims.add(text))
    const problems: IntegrityProblem[] = []
    const good = selectTrustedCheckpoints(checkpoints ?? [], keys, problems)
    const tree = new TreeCheck(base, keys, good, problems)
    const heads = good.map(({ checkpoint }) => ({ seq: checkpoint.seq, hash: checkpoint.head }))
    walk(database, verifier, base.seq + 1, {
      due: [...anchors(database), ...heads, ...noted].filter(({ seq }) => seq >= base.seq),
      onBlock: (data) => options.tree && verifier.problems.length === 0 && tree.add(data),
    })
    claims.check(base, checkpoints?.length, problems)
    const all = [...verifier.problems, ...problems].sort((one, other) => one.seq - other.seq)
    return {
      records: verifier.records,
      dropped: base.seq,
      head: { seq: verifier.last.seq, hash: toHex(verifier.last.hash) },
      checkpoint: heads.reduce((newest, { seq }) => Math.max(newest, seq), 0),
      problems: all,
    }
  } finally {
    database.exec('ROLLBACK')
  }
}

/** The last records only, compared with the hash that their first block follows. */
export function verifyTail(database: DatabaseSync): readonly IntegrityProblem[] {
  const base = readBase(database)
  const { seq } = readHead(database)
  const from = Math.max(1, seq - TAIL_RECORDS_VERIFIED)
  for (const block of blocksFrom(database, from)) {
    const verifier = new Verifier(block.seq, getStartHash(block, base))
    walk(database, verifier, block.seq, { due: anchors(database, block.seq) })
    return verifier.problems
  }
  const lost = [...anchors(database)].at(-1)
  if (lost === undefined) return []
  const verifier = new Verifier(1, FIRST_HASH)
  verifier.missingUntil(lost.seq)
  return verifier.problems
}

function getStartHash(block: { readonly seq: number; readonly data: Buffer }, base: Base): string {
  if (block.seq === base.seq + 1) return base.hash
  return block.data.toString('latin1', 0, FIRST_HASH.length)
}

function walk(
  database: DatabaseSync,
  verifier: Verifier,
  from: number,
  options: { readonly due: Iterable<TrustedHead>; readonly onBlock?: (data: Buffer) => void },
): void {
  const due = [...options.due].sort((a, b) => a.seq - b.seq)
  let at = 0
  for (const block of blocksFrom(database, from)) {
    verifier.add(block)
    options.onBlock?.(block.data)
    for (; at < due.length && (due[at] as TrustedHead).seq <= verifier.last.seq; at++)
      compare(database, verifier, due[at] as TrustedHead)
  }
  const beyond = due.at(-1)
  if (beyond !== undefined && beyond.seq > verifier.last.seq) verifier.missingUntil(beyond.seq)
  verifier.finish()
}

function compare(database: DatabaseSync, verifier: Verifier, { seq, hash }: TrustedHead): void {
  const { last } = verifier
  // An unreadable block was reported already.
  const actual = seq === last.seq ? last.hash : attempt(() => hashAt(database, seq))
  if (actual !== undefined && toHex(actual) !== hash)
    verifier.report(
      seq,
      'edited',
      `record ${seq} is not the one that was noted when it was written`,
    )
}

function* anchors(database: DatabaseSync, from = 1): Generator<TrustedHead> {
  const statement = database.prepare('SELECT seq, hash FROM anchors WHERE seq >= ? ORDER BY seq')
  for (const { seq, hash } of statement.iterate(from))
    yield { seq: Number(seq), hash: Buffer.from(hash as Uint8Array).toString('hex') }
}
