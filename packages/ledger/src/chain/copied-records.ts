// Records of a shared store for the copy in a data directory: their bytes as they are, with what the chain
// stores beside them.

import { KINDS } from '../records/encoding.ts'
import { header, readHeader } from '../records/header.ts'
import type { EncodedRecord } from './chain.ts'

export interface CopiedRecord extends EncodedRecord {
  /** Number of a call that begins here. */
  readonly begins?: number
  /** Number of the call whose outcome it is. */
  readonly ends?: number
}

export function toCopiedRecords(texts: readonly string[]): CopiedRecord[] {
  return texts.map((text) => {
    if (!readHeader(Buffer.from(text), 0)) throw new Error('a record of the shared store is none')
    const { atMs, intent, kind, seq } = header
    const copied = { kind: 'encoded', text, atMs } as const
    if (kind === KINDS.intent) return { ...copied, begins: seq }
    return kind === KINDS.outcome ? { ...copied, ends: intent } : copied
  })
}
