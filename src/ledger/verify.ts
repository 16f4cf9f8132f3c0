// Walks the chain and finds what was edited, removed or moved, with the number of the record. The
// whole chain for `sluice ledger verify`, its end at every start. Whoever rewrites all of it,
// anchors included, is found only by a head that was noted elsewhere.

import type { DatabaseSync } from 'node:sqlite'
import { FIRST_HASH } from './block.ts'
import { TAIL_RECORDS_VERIFIED } from './limits.ts'
import { blocksFrom, hashAt, readHead } from './read.ts'
import { type Problem, Verifier } from './verifier.ts'

export interface Verified {
  readonly records: number
  /** `seq` and hash (hex) of the last record: to be noted elsewhere. */
  readonly head: { readonly seq: number; readonly hash: string }
  readonly problems: readonly Problem[]
}

/** A head that was noted elsewhere. */
export interface Noted {
  readonly seq: number
  readonly hash: string
}

export function verifyLedger(database: DatabaseSync, noted: readonly Noted[] = []): Verified {
  database.exec('BEGIN')
  try {
    const verifier = new Verifier(1, FIRST_HASH)
    walk(database, verifier, 1, [...anchors(database), ...noted])
    return {
      records: verifier.records,
      head: { seq: verifier.last.seq, hash: hex(verifier.last.hash) },
      problems: verifier.problems,
    }
  } finally {
    database.exec('ROLLBACK')
  }
}

/** The last records only, against the hash their first block says it follows. */
export function verifyTail(database: DatabaseSync): readonly Problem[] {
  const { seq } = readHead(database)
  const from = Math.max(1, seq - TAIL_RECORDS_VERIFIED)
  for (const block of blocksFrom(database, from)) {
    const start = block.seq === 1 ? FIRST_HASH : block.data.toString('latin1', 0, FIRST_HASH.length)
    const verifier = new Verifier(block.seq, start)
    walk(database, verifier, block.seq, anchors(database, block.seq))
    return verifier.problems
  }
  const lost = [...anchors(database)].at(-1)
  if (lost === undefined) return []
  const verifier = new Verifier(1, FIRST_HASH)
  verifier.missingUntil(lost.seq)
  return verifier.problems
}

function walk(
  database: DatabaseSync,
  verifier: Verifier,
  from: number,
  anchors: Iterable<Noted>,
): void {
  const due = [...anchors].sort((a, b) => a.seq - b.seq)
  let at = 0
  for (const block of blocksFrom(database, from)) {
    verifier.add(block)
    for (; at < due.length && (due[at] as Noted).seq <= verifier.last.seq; at++)
      compare(database, verifier, due[at] as Noted)
  }
  const beyond = due.at(-1)
  if (beyond !== undefined && beyond.seq > verifier.last.seq) verifier.missingUntil(beyond.seq)
  verifier.finish()
}

function compare(database: DatabaseSync, verifier: Verifier, { seq, hash }: Noted): void {
  const { last } = verifier
  // A block that does not read was reported already.
  const found = seq === last.seq ? last.hash : safely(() => hashAt(database, seq))
  if (found !== undefined && hex(found) !== hash)
    verifier.report(
      seq,
      'edited',
      `record ${seq} is not the one that was noted when it was written`,
    )
}

function* anchors(database: DatabaseSync, from = 1): Generator<Noted> {
  const statement = database.prepare('SELECT seq, hash FROM anchors WHERE seq >= ? ORDER BY seq')
  for (const { seq, hash } of statement.iterate(from))
    yield { seq: Number(seq), hash: Buffer.from(hash as Uint8Array).toString('hex') }
}

function safely<T>(look: () => T): T | undefined {
  try {
    return look()
  } catch {
    return undefined
  }
}

function hex(hash: string): string {
  return Buffer.from(hash, 'latin1').toString('hex')
}
