// The rows that all gates have a copy of, in the table `shared`. Every row has an authentication code of the
// cluster's key, and all of them together another one, with the version: a row that was written, changed or
// removed by anyone without the key is found, and so is an older state. Used by store/postgres/shared-state.ts.

import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { StoreError } from '../errors.ts'
import { ADMIT_DEADLINE_MS } from '../limits.ts'
import type { MirroredRow } from '../sqlite/mirrored-tables.ts'
import type { PostgresConnections } from './connections.ts'
import { CHANGE, SHARED_SINCE } from './statements.ts'

export interface SharedRowsParts {
  readonly connections: Pick<PostgresConnections, 'query'>
  readonly gate: string
  readonly epoch: () => number
  /** 32 bytes, derived from the cluster's key. */
  readonly key: Buffer
}

export class SharedRows {
  readonly #parts: SharedRowsParts
  #version = 0
  #codes = new Map<string, bigint>()
  #sum = 0n

  constructor(parts: SharedRowsParts) {
    this.#parts = parts
  }

  get version(): number {
    return this.#version
  }

  /** What other gates have changed. `take` applies it; if it throws, nothing of it is taken as known. */
  async readNews(take: (rows: readonly MirroredRow[]) => void): Promise<void> {
    const found = await this.#parts.connections.query(SHARED_SINCE, [this.#version])
    const version = Number(found[0]?.current)
    if (version === this.#version) return
    if (version < this.#version) throw this.#lost(version)
    const codes = new Map(this.#codes)
    let sum = this.#sum
    const rows: MirroredRow[] = []
    for (const each of found) {
      if (each.kind === null) continue
      const body = each.body === null ? null : String(each.body)
      const row = { kind: String(each.kind), key: String(each.key), body }
      const code = this.#code(row, Number(each.version))
      if (!isEqual(code, each.mac)) throw wrongKey(`${row.kind} ${row.key}`)
      sum = replace(codes, sum, row, code)
      rows.push(row)
    }
    if (!isEqual(this.#root(version, sum), found[0]?.root)) throw wrongKey('the list of all rows')
    take(rows)
    this.#codes = codes
    this.#sum = sum
    this.#version = version
  }

  /** Rejects with the SQLSTATE SL001 if another gate was faster. */
  async change(rows: readonly MirroredRow[]): Promise<void> {
    const { connections, epoch, gate } = this.#parts
    const version = this.#version + 1
    const codes = new Map(this.#codes)
    let sum = this.#sum
    const macs = rows.map((row) => {
      const code = this.#code(row, version)
      sum = replace(codes, sum, row, code)
      return code
    })
    const values = [
      ...[gate, epoch(), this.#version, rows.map(({ kind }) => kind)],
      // An index has a limit on the length of its keys, and keys contain names of foreign tools.
      rows.map(({ key }) => createHash('sha256').update(key).digest()),
      ...[rows.map(({ key }) => key), rows.map(({ body }) => body)],
      ...[macs, this.#root(version, sum)],
    ]
    // Calls wait for it.
    await connections.query(CHANGE, values, ADMIT_DEADLINE_MS)
    this.#codes = codes
    this.#sum = sum
    this.#version = version
  }

  #code({ kind, key, body }: MirroredRow, version: number): Buffer {
    const text = JSON.stringify(['row', kind, key, body, version])
    return createHmac('sha256', this.#parts.key).update(text).digest()
  }

  #root(version: number, sum: bigint): Buffer {
    const text = JSON.stringify(['root', version, sum.toString(16)])
    return createHmac('sha256', this.#parts.key).update(text).digest()
  }

  #lost(version: number): StoreError {
    return new StoreError(
      'STORE_LOST',
      `the shared store is at version ${version}, and was at ${this.#version} before`,
      'a failover or a restored backup lost commits: restart the gates to accept what is left',
    )
  }
}

const MODULUS = 1n << 256n

/** A keyed sum: adding and removing a row needs no other one. */
function replace(
  codes: Map<string, bigint>,
  sum: bigint,
  { kind, key }: MirroredRow,
  code: Buffer,
): bigint {
  const name = `${kind} ${key}`
  const added = BigInt(`0x${code.toString('hex')}`)
  const before = codes.get(name) ?? 0n
  codes.set(name, added)
  return (sum + added - before + MODULUS) % MODULUS
}

function isEqual(code: Buffer, found: unknown): boolean {
  return Buffer.isBuffer(found) && found.length === code.length && timingSafeEqual(code, found)
}

function wrongKey(what: string): StoreError {
  return new StoreError(
    'STORE_KEY',
    `\`${what}\` in the shared store was not written with the key of this cluster`,
    'use the same `cluster: { key }` at every gate; if it is the same, somebody has changed the database',
  )
}
