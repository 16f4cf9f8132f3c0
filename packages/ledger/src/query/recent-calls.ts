// The calls since a given time, oldest first, and their outcomes, as far as a restart needs them.
// Of an outcome without new information, which is nearly every one, only the first and last bytes
// are read: a busy gate leaves millions of records, and no call is served meanwhile.

import type { DatabaseSync } from 'node:sqlite'
import { listRecordSpans, type RecordSpan, recordText } from '../chain/block.ts'
import { decode, decodeCall, type RestoredCall } from '../records/decoding.ts'
import { KINDS } from '../records/encoding.ts'
import { header, readHeader } from '../records/header.ts'
import { restoredText } from '../records/names.ts'
import type { OutcomeRecord } from '../records/record.ts'
import { recentBlocks } from './restore-limits.ts'

/** `quiet`: answered or failed, and added nothing to its session. */
export type RecentRecord =
  | RestoredCall
  | { readonly kind: 'quiet'; readonly intent: number; readonly bytes: number }
  | Pick<OutcomeRecord, 'kind' | 'intent' | 'status' | 'labels' | 'bytes'>

/** Reads recent calls. With `after` it reads only the records after it, because a snapshot has the others. */
export function* recentCalls(
  database: DatabaseSync,
  sinceMs: number,
  after = 0,
): Generator<RecentRecord> {
  for (const { data } of recentBlocks(database, sinceMs, after))
    for (const place of listRecordSpans(data)) {
      const isRead = readHeader(data, place.start)
      if (isRead && header.seq <= after) continue
      if (isRead && header.kind === KINDS.event) continue
      if (isRead && header.kind === KINDS.outcome && isQuiet(data, place))
        yield { kind: 'quiet', intent: header.intent, bytes: readBytes(data) }
      else if (isRead && header.kind !== KINDS.outcome)
        yield decodeCall(restoredText(database, recordText(data, place)))
      else {
        const record = decode(restoredText(database, recordText(data, place)))
        if (record.kind === 'outcome') yield record
      }
    }
}

/** The status follows the intent; labels, attempts and the refund are at the end. */
function isQuiet(data: Buffer, { end }: RecordSpan): boolean {
  const status = data.indexOf(0x2c, header.end) + 1
  if (data.toString('latin1', status, status + UNKNOWN.length) === UNKNOWN) return false
  return data.toString('latin1', end - NO_LABELS.length, end) === NO_LABELS
}

/** The size of the answer stands behind the intent, the status and the duration. */
function readBytes(data: Buffer): number {
  let start = header.end
  for (let comma = 0; comma < 3; comma++) start = data.indexOf(0x2c, start) + 1
  return Number(data.toString('latin1', start, data.indexOf(0x2c, start)))
}

const UNKNOWN = '"unknown"'
const NO_LABELS = ',[],1,false]'
