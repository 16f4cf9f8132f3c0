// Reads the ledger: the head of the chain, one record, records forwards from a position or
// backwards from the end. Works on the writing connection and on a read-only one.

import type { DatabaseSync } from 'node:sqlite'
import { decode } from '../records/decoding.ts'
import { indexFile, ledgerFile } from '../records/files.ts'
import { BLOCKS_READ_AT_ONCE } from '../records/limits.ts'
import { attachNames, shownText, shownTexts } from '../records/names.ts'
import type { LedgerRecord } from '../records/record.ts'
import { asBuffer } from '../store/as-buffer.ts'
import { FIRST_HASH } from '../store/chain-hash.ts'
import { StoreError } from '../store/errors.ts'
import { openReadOnly } from '../store/sqlite/open.ts'
import { readBase } from './base.ts'
import { hashAfter, listRecordSpans, type RecordSpan, recordText } from './block.ts'

export interface Head {
  /** The number of the last record; 0 in an empty ledger. */
  readonly seq: number
  /** 32 bytes as latin1. */
  readonly hash: string
  /** The first record that may be an intent without outcome. */
  readonly open: number
}

export interface Block {
  readonly seq: number
  readonly count: number
  readonly at: number
  /** The first record that may be an intent without outcome, as of this block. */
  readonly open: number
  readonly data: Buffer
}

export function openLedgerReadOnly(directory: string): DatabaseSync {
  const ledger = openReadOnly(ledgerFile(directory))
  attachNames(ledger, directory)
  return ledger
}

/** Opens the index; undefined if there is none. The next query creates it. */
export function openIndexReadOnly(directory: string): DatabaseSync | undefined {
  try {
    const file = indexFile(directory)
    const index = openReadOnly(file)
    // An index of an older version is not used: the next query rebuilds it.
    if (index.prepare('PRAGMA user_version').get()?.user_version === file.migrations.length)
      return index
    index.close()
    return undefined
  } catch (error) {
    if (error instanceof StoreError && error.code === 'STORE_MISSING') return undefined
    throw error
  }
}

export function readHead(database: DatabaseSync): Head {
  const row = database.prepare('SELECT * FROM blocks ORDER BY seq DESC LIMIT 1').get()
  if (row === undefined) {
    const { hash, seq } = readBase(database)
    return { seq, hash, open: seq + 1 }
  }
  const data = asBuffer(row.data as Uint8Array)
  return {
    seq: Number(row.seq) + Number(row.count) - 1,
    hash: data.toString('latin1', data.length - FIRST_HASH.length),
    open: Number(row.open),
  }
}

/** Blocks in order, from the one that contains `from`. */
export function* blocksFrom(database: DatabaseSync, from = 1): Generator<Block> {
  const first = database.prepare('SELECT max(seq) AS seq FROM blocks WHERE seq <= ?').get(from)?.seq
  // In batches and as arrays: half the time of single rows as objects.
  const statement = database.prepare(
    `SELECT seq, count, at, open, data FROM blocks WHERE seq >= ? ORDER BY seq LIMIT ${BLOCKS_READ_AT_ONCE}`,
  )
  statement.setReturnArrays(true)
  for (let next = Number(first ?? 0); ; ) {
    // Node's types do not know what `setReturnArrays` changes.
    const rows = statement.all(next) as unknown as [number, number, number, number, Uint8Array][]
    for (const [seq, count, at, open, data] of rows)
      yield { seq, count, at, open, data: asBuffer(data) }
    if (rows.length < BLOCKS_READ_AT_ONCE) return
    next = (rows.at(-1) as (typeof rows)[number])[0] + 1
  }
}

function* blocksBackwards(database: DatabaseSync, before?: number): Generator<Block> {
  const statement = database.prepare('SELECT * FROM blocks WHERE seq < ? ORDER BY seq DESC')
  for (const row of statement.iterate(before ?? Number.MAX_SAFE_INTEGER)) yield toBlock(row)
}

export function* recordsFrom(database: DatabaseSync, from = 1): Generator<LedgerRecord> {
  for (const { data } of blocksFrom(database, from)) {
    const show = shownTexts(database)
    for (const place of listRecordSpans(data)) {
      const record = decode(show(recordText(data, place)))
      if (record.seq >= from) yield record
    }
  }
}

export function* recordsBackwards(
  database: DatabaseSync,
  before = Number.MAX_SAFE_INTEGER,
): Generator<LedgerRecord> {
  for (const { data } of blocksBackwards(database, before))
    for (const place of listRecordSpans(data).reverse()) {
      const record = decode(shownText(database, recordText(data, place)))
      if (record.seq < before) yield record
    }
}

/** A reader of single records; caches the last block. */
export function recordReader(database: DatabaseSync): (seq: number) => LedgerRecord | undefined {
  const statement = database.prepare(
    'SELECT * FROM blocks WHERE seq <= ? ORDER BY seq DESC LIMIT 1',
  )
  let block: Block | undefined
  let places: readonly RecordSpan[] = []
  return (seq) => {
    if (block === undefined || seq < block.seq || seq >= block.seq + block.count) {
      const row = statement.get(seq)
      if (row === undefined) return undefined
      block = toBlock(row)
      places = listRecordSpans(block.data)
    }
    const place = places[seq - block.seq]
    return place === undefined
      ? undefined
      : decode(shownText(database, recordText(block.data, place)))
  }
}

/** The hash after a record; undefined if it does not exist. */
export function hashAt(database: DatabaseSync, seq: number): string | undefined {
  const base = readBase(database)
  if (seq === base.seq) return base.hash
  if (seq < base.seq) return undefined
  for (const block of blocksFrom(database, seq)) {
    const place = listRecordSpans(block.data)[seq - block.seq]
    return place === undefined ? undefined : hashAfter(block.data, place)
  }
  return undefined
}

function toBlock(row: Record<string, unknown>): Block {
  return {
    seq: Number(row.seq),
    count: Number(row.count),
    at: Number(row.at),
    open: Number(row.open),
    data: asBuffer(row.data as Uint8Array),
  }
}
