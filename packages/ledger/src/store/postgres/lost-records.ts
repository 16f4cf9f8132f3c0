// What the database has of this gate's chain after a statement whose effect is unknown, compared with what it had
// confirmed: nothing more, the records of that statement, or less, which is a failover to a standby that was
// behind. What is lost is given back from this gate's copy. Used by admission.ts.

import { chainHash } from '../chain-hash.ts'
import { LOST_RECORDS_MAX, MIGRATE_DEADLINE_MS } from '../limits.ts'
import { type ChainHead, readWritten, type WrittenRecord } from './batch.ts'
import type { PostgresConnections } from './connections.ts'
import { RESTORE_CHAIN, WRITTEN_SINCE } from './statements.ts'

export type ChainFinding =
  | { readonly status: 'same' }
  | { readonly status: 'behind' }
  | { readonly status: 'more'; readonly written: readonly WrittenRecord[]; readonly at: unknown }
  /** The database has another chain of this gate. */
  | { readonly status: 'forked' }

/** `before` is what was confirmed, `head` what the database has now. */
export async function compareChain(
  connections: PostgresConnections,
  gate: string,
  { before, head }: { readonly before: ChainHead; readonly head: ChainHead },
): Promise<ChainFinding> {
  if (head.seq < before.seq) return { status: 'behind' }
  if (head.seq === before.seq) return { status: head.hash === before.hash ? 'same' : 'forked' }
  const found = await connections.query(WRITTEN_SINCE, [gate, before.seq])
  const { written, last } = readWritten(found, before)
  const isWhole = written.at(-1)?.seq === head.seq && last === head.hash
  return isWhole ? { status: 'more', written, at: found[0]?.at } : { status: 'forked' }
}

interface LostChainParts {
  readonly connections: PostgresConnections
  readonly gate: string
  /** Records of this gate's chain after this one. */
  readonly readCopy?: (after: number) => readonly WrittenRecord[]
}

interface LostChain {
  readonly epoch: number
  readonly before: ChainHead
  readonly head: ChainHead
  /** The last batch of this gate. */
  readonly batch: number
  /** What it charged, as arguments. */
  readonly charges: readonly unknown[]
}

/** False if the copy is not of this chain, or too much is lost: nothing is given back. */
export async function restoreChain(
  { connections, gate, readCopy }: LostChainParts,
  { epoch, before, head, batch, charges }: LostChain,
): Promise<boolean> {
  const records = readCopy?.(head.seq) ?? []
  if (records.length !== before.seq - head.seq || records.length > LOST_RECORDS_MAX) return false
  const texts = records.map(({ body, seq }) => `[1,${seq}${body}`)
  let last = head.hash
  const hashes = texts.map((text) => {
    last = chainHash(last, text)
    return Buffer.from(last, 'latin1')
  })
  if (last !== before.hash) return false
  const values = [
    gate,
    epoch,
    head.seq,
    Buffer.from(before.hash, 'latin1'),
    batch,
    records.map(({ kind }) => kind),
    records.map(({ id }) => id),
    texts.map((text) => Buffer.from(text)),
    hashes,
    ...charges,
  ]
  await connections.query(RESTORE_CHAIN, values, MIGRATE_DEADLINE_MS)
  return true
}
