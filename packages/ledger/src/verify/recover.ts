// Recovery at start: intents of an earlier run without an outcome. Whether those calls had their
// effect is unknown, and is recorded as such. Reading starts at the position stored by the last
// commit.

import type { DatabaseSync } from 'node:sqlite'
import { listRecordSpans } from '../chain/block.ts'
import { blocksFrom, type Head } from '../chain/read.ts'
import { KINDS } from '../records/encoding.ts'
import { LedgerError } from '../records/errors.ts'
import { header, readHeader } from '../records/header.ts'
import { verifyTail } from './verify.ts'

/** Sequence numbers of intents without outcome, in order. */
export function findOpen(database: DatabaseSync, { seq, open }: Head): number[] {
  const intents = new Set<number>()
  if (open > seq) return []
  for (const { data } of blocksFrom(database, open))
    for (const place of listRecordSpans(data)) {
      if (!readHeader(data, place.start)) continue
      if (header.kind === KINDS.intent) intents.add(header.seq)
      else if (header.kind === KINDS.outcome) intents.delete(header.intent)
    }
  return [...intents]
}

/** An inconsistent chain is not continued. */
export function checkTail(database: DatabaseSync): void {
  const [problem] = verifyTail(database)
  if (problem === undefined) return
  throw new LedgerError(
    'LEDGER_BROKEN',
    `the end of the ledger does not fit together: ${problem.message}`,
    '`sluice ledger verify` shows all of it; keep the file, and move it away to begin a new one',
  )
}
