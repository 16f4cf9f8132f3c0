// Reads the chain of one gate from the shared store, page by page.

import { CHAIN_PAGE_ROWS } from '../limits.ts'
import type { Queryable } from './connections.ts'
import { CHAIN_PAGE } from './statements.ts'

export interface ChainRow {
  readonly seq: number
  readonly kind: string
  readonly text: string
  /** As the database has it, hex. */
  readonly hash: string
}

/** From the record `from` on, inclusive. */
export async function* readChain(
  connections: Queryable,
  gate: string,
  from: number,
): AsyncGenerator<ChainRow> {
  for (let next = from; ; ) {
    const rows = await connections.query(CHAIN_PAGE, [gate, next])
    for (const row of rows)
      yield {
        seq: Number(row.seq),
        kind: String(row.kind),
        text: (row.body as Buffer).toString('utf8'),
        hash: (row.hash as Buffer).toString('hex'),
      }
    if (rows.length < CHAIN_PAGE_ROWS) return
    next = Number(rows.at(-1)?.seq) + 1
  }
}
