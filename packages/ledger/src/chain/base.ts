// The start of the ledger: its first record, or the checkpoint that replaces records dropped by
// retention. Read by everything that walks the chain.

import type { DatabaseSync } from 'node:sqlite'
import { asBuffer } from '../store/as-buffer.ts'
import { FIRST_HASH } from '../store/chain-hash.ts'
import { type Checkpoint, readCheckpoint } from './checkpoint.ts'

export interface Base {
  /** The last record that was dropped; 0 if none was. */
  readonly seq: number
  /** The hash after it, 32 bytes as latin1. */
  readonly hash: string
  /** The checkpoint as stored; `verify` decides whether it is trusted. */
  readonly checkpoint: string | undefined
}

const WHOLE: Base = { seq: 0, hash: FIRST_HASH, checkpoint: undefined }

export function readBase(database: DatabaseSync): Base {
  // A copy made by an older version has no such table.
  const isKnown = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'base'").get()
  const row = isKnown && database.prepare('SELECT seq, hash, checkpoint FROM base').get()
  if (row === undefined) return WHOLE
  return {
    seq: Number(row.seq),
    hash: asBuffer(row.hash as Uint8Array).toString('latin1'),
    checkpoint: String(row.checkpoint),
  }
}

/** The checkpoint that replaces dropped records; undefined if none were. */
export function readBaseCheckpoint(base: Base): Checkpoint | undefined {
  if (base.checkpoint === undefined) return undefined
  return readCheckpoint(base.checkpoint, 'that replaces dropped records')
}
