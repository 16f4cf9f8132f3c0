// Agents at rest: checkpoints, the memories they share, what a guest answered of itself at one, and
// the images all of them need. Rows in, rows out. Owned by the journal.

import { zstdCompressSync } from 'node:zlib'
import { getOwn } from '@sluice/policy/values/json'
import { AgentError } from '../shared/errors.ts'
import { PACK_BYTES } from '../shared/limits.ts'
import type { SlicedWork } from '../shared/sliced.ts'
import type { AgentDatabase } from './database.ts'
import { unpack } from './read-rows.ts'
import type { AgentRow, CheckpointRow } from './rows.ts'

/** What a guest answered at a checkpoint, by question; JSON as it said it. */
export type Answers = Readonly<Record<string, string>>

/** Compresses a memory to the form in which it is stored. */
export function packMemory(bytes: Uint8Array): Buffer {
  return zstdCompressSync(bytes)
}

/** The same in slices. Compressed pieces one behind the other unpack to the whole. */
export function* packInSlices(bytes: Uint8Array): SlicedWork<Buffer> {
  const packed = [packMemory(bytes.subarray(0, PACK_BYTES))]
  for (let at = PACK_BYTES; at < bytes.length; at += PACK_BYTES) {
    yield
    packed.push(packMemory(bytes.subarray(at, at + PACK_BYTES)))
  }
  return Buffer.concat(packed)
}

export class CheckpointStore {
  readonly #database: AgentDatabase

  constructor(database: AgentDatabase) {
    this.#database = database
  }

  /** `forked` is what every fork of it answers after its first event. */
  put(bytes: Buffer, answers: Answers | null, forked: Answers | null = null): number {
    return this.putPacked(packMemory(bytes), answers, forked)
  }

  /** A memory that another thread has packed. */
  putPacked(packed: Uint8Array, answers: Answers | null, forked: Answers | null = null): number {
    const memory = this.#database.nextKeys(1)
    this.#database.run('INSERT INTO memories (memory, bytes) VALUES ($1, $2)', memory, packed)
    this.#database.run(
      'INSERT INTO memory_answers (memory, at_rest, forked) VALUES ($1, $2, $3)',
      memory,
      answers && JSON.stringify(answers),
      forked && JSON.stringify(forked),
    )
    return memory
  }

  answerForForks(memory: number, forked: Answers): void {
    const sql = 'UPDATE memory_answers SET forked = $1 WHERE memory = $2 AND forked IS NULL'
    this.#database.run(sql, JSON.stringify(forked), memory)
  }

  /** All that the one said whose memory it is, when it came to rest. */
  answersOf(memory: number): Answers | null {
    const sql = 'SELECT at_rest FROM memory_answers WHERE memory = $1'
    const stored = this.#database.get(sql, memory)?.at_rest
    return typeof stored === 'string' ? (JSON.parse(stored) as Answers) : null
  }

  /** What the agent said to a question when it came to rest, if nothing has happened since. */
  answerOf({ key, seq }: Pick<AgentRow, 'key' | 'seq'>, question: string): string | undefined {
    const row = this.#database.get(
      `SELECT c.seq, a.at_rest, a.forked FROM checkpoints c
       JOIN memory_answers a ON a.memory = c.memory
       WHERE c.agent = $1 AND c.seq <= $2 ORDER BY c.seq DESC LIMIT 1`,
      key,
      seq,
    )
    // A fork begins with the memory of its origin and one event of its own.
    const isFork = seq === 1 && row?.seq === 0
    const stored = row?.seq === seq ? row.at_rest : isFork ? row.forked : null
    if (typeof stored !== 'string') return undefined
    return getOwn(JSON.parse(stored) as Answers, question)
  }

  putCheckpoint(key: number, seq: number, image: string, memory: number): void {
    this.#database.run(
      `INSERT INTO checkpoints (agent, seq, image, memory) VALUES ($1, $2, $3, $4)
       ON CONFLICT (agent, seq) DO UPDATE SET image = excluded.image, memory = excluded.memory`,
      key,
      seq,
      image,
      memory,
    )
  }

  /** The same memory for many that begin with it, by the first and the last of their keys. */
  putCheckpoints([first, last]: readonly [number, number], image: string, memory: number): void {
    this.#database.run(
      `INSERT INTO checkpoints (agent, seq, image, memory)
       SELECT agent, 0, CAST($1 AS TEXT), CAST($2 AS BIGINT) FROM agents
       WHERE agent >= $3 AND agent <= $4 ORDER BY agent`,
      image,
      memory,
      first,
      last,
    )
  }

  /** The last but one goes where it is close to the one before it and all three are of one core. */
  thin(key: number, apart: number): void {
    const [newest, middle, older] = this.#database.all(
      'SELECT seq, image, memory FROM checkpoints WHERE agent = $1 ORDER BY seq DESC LIMIT 3',
      key,
    )
    if (newest === undefined || middle === undefined || older === undefined) return
    const close = Number(middle.seq) - Number(older.seq) < apart
    if (!close || middle.image !== newest.image || middle.image !== older.image) return
    this.drop(key, Number(middle.seq), Number(middle.seq))
  }

  /** Checkpoints from the one event to the other, and memories that nobody else has. */
  drop(key: number, from: number, until: number): void {
    const range = 'WHERE agent = $1 AND seq >= $2 AND seq <= $3'
    const rows = this.#database.all(`SELECT memory FROM checkpoints ${range}`, key, from, until)
    this.#database.run(`DELETE FROM checkpoints ${range}`, key, from, until)
    for (const { memory } of rows) {
      const sql = 'SELECT 1 FROM checkpoints WHERE memory = $1'
      if (this.#database.get(sql, Number(memory)) !== undefined) continue
      this.#database.run('DELETE FROM memories WHERE memory = $1', Number(memory))
      this.#database.run('DELETE FROM memory_answers WHERE memory = $1', Number(memory))
    }
  }

  checkpoint(key: number, until: number): CheckpointRow | undefined {
    const row = this.#database.get(
      `SELECT c.seq, c.image, m.bytes FROM checkpoints c JOIN memories m ON m.memory = c.memory
       WHERE c.agent = $1 AND c.seq <= $2 ORDER BY c.seq DESC LIMIT 1`,
      key,
      until,
    )
    if (row === undefined) return undefined
    const memory = unpack(row.bytes as Uint8Array)
    return { seq: Number(row.seq), image: String(row.image), memory }
  }

  checkpointSeq(key: number): number {
    const sql = 'SELECT max(seq) AS seq FROM checkpoints WHERE agent = $1'
    return Number(this.#database.get(sql, key)?.seq ?? 0)
  }

  /** The newest at this event or before it. */
  checkpointBefore(key: number, seq: number): number | undefined {
    const sql = 'SELECT max(seq) AS seq FROM checkpoints WHERE agent = $1 AND seq <= $2'
    const found = this.#database.get(sql, key, seq)?.seq
    return typeof found === 'number' ? found : undefined
  }

  /** The row of a memory that a checkpoint has, so that a fork can share it. */
  memoryOf(key: number, seq: number): number | undefined {
    const sql = 'SELECT memory FROM checkpoints WHERE agent = $1 AND seq = $2'
    const row = this.#database.get(sql, key, seq)
    return row === undefined ? undefined : Number(row.memory)
  }

  putImage(hash: string, bytes: Uint8Array): void {
    const found = this.#database.get('SELECT 1 FROM images WHERE hash = $1', hash)
    if (found !== undefined) return
    const sql = 'INSERT INTO images (hash, bytes) VALUES ($1, $2) ON CONFLICT DO NOTHING'
    this.#database.run(sql, hash, zstdCompressSync(bytes))
  }

  image(hash: string): Buffer {
    const row = this.#database.get('SELECT bytes FROM images WHERE hash = $1', hash)
    if (row === undefined)
      throw new AgentError('AGENT_DAMAGED', `the image \`${hash}\` of the agent is not there`)
    return unpack(row.bytes as Uint8Array)
  }
}
