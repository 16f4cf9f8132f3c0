// A search for a free text compares the names of every call: of a rare text in ten million calls that is
// seconds. One answer looks through a bounded part of the ledger and says where the next goes on, so
// other questions are answered in between.

import type { Query } from '@sluice/ledger/query/query'
import type { RecordIndex } from '@sluice/ledger/query/record-index'

/** One by one: asked for in one SELECT, SQLite reads every row. */
const ENDS = 'SELECT (SELECT min(seq) FROM calls) AS first, (SELECT max(seq) FROM calls) AS last'

/** A bounded part of a search. */
export interface SearchPart {
  /** The query with the bounds of the part. */
  readonly query: Query
  /** `before` or `after` of the next part, as the order has it. */
  readonly next: number
  /** The time of the last call of this part. */
  readonly searchedToMs: number
}

/** Undefined if the rest fits into one answer, or no text is searched. */
export function findSearchPart(
  { database }: RecordIndex,
  query: Query,
  stepRecords: number,
): SearchPart | undefined {
  if (query.text === undefined && query.where === undefined) return undefined
  const isOldest = query.order === 'oldest'
  const ends = database.prepare(ENDS).get()
  if (ends?.first == null) return undefined
  const from = Math.max(Number(ends.first) - 1, query.after ?? 0)
  const to = Math.min(Number(ends.last) + 1, query.before ?? Number.MAX_SAFE_INTEGER)
  // Exclusive at both ends.
  const edge = isOldest ? from + stepRecords : to - stepRecords
  if (isOldest ? edge + 1 >= to : edge <= from) return undefined
  const near = database.prepare(
    isOldest
      ? 'SELECT at FROM calls WHERE seq <= ? ORDER BY seq DESC LIMIT 1'
      : 'SELECT at FROM calls WHERE seq > ? ORDER BY seq LIMIT 1',
  )
  const searchedToMs = Number(near.get(edge)?.at ?? 0)
  return isOldest
    ? { query: { ...query, after: from, before: edge + 1 }, next: edge, searchedToMs }
    : { query: { ...query, after: edge, before: to }, next: edge + 1, searchedToMs }
}
