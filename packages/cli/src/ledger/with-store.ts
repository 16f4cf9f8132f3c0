// The shared store of several gates, for commands that read the records of all of them: `--store`. Nothing is
// written there. Loaded only with that option, because it brings the PostgreSQL client along.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { HashedRecord } from '@sluice/ledger/export/chunks'
import { lookAtStore } from '@sluice/ledger/merged/look-at-store'
import { openMerged, openMergedReadOnly } from '@sluice/ledger/merged/merged-ledger'
import {
  keepNames,
  openNames,
  readStoredNames,
  type StoredNames,
} from '@sluice/ledger/merged/store-names'
import { decode } from '@sluice/ledger/records/decoding'
import { namesIn, showNames } from '@sluice/ledger/records/names'
import { toHex } from '@sluice/ledger/store/chain-hash'
import type { StoreError } from '@sluice/ledger/store/errors'
import { FOLLOWED_ROWS_MAX } from '@sluice/ledger/store/limits'
import { parsePostgresUrl } from '@sluice/ledger/store/postgres/address'
import { PostgresConnections } from '@sluice/ledger/store/postgres/connections'
import { FollowedChains } from '@sluice/ledger/store/postgres/follow-chains'
import { takeFileLock } from '@sluice/ledger/store/sqlite/file-lock'
import { ArgumentError, CliError } from '../terminal/errors.ts'
import type { Output } from '../terminal/output.ts'

/** No such table, no such schema. */
const NO_TABLES = ['42P01', '3F000']
/** The role may not read a table. */
const REFUSED = '42501'
/** In the folder of --copy: that may be the data directory of a gate, which has a `ledger.db` of its own. */
const COPY_FOLDER = 'all-gates'

/** Failures of the database say what to do. */
export async function withStore<T>(
  store: string,
  work: (connections: PostgresConnections) => Promise<T>,
): Promise<T> {
  const connections = open(store)
  try {
    return await work(connections)
  } catch (error) {
    throw toStoreError(error, connections.where)
  } finally {
    await connections.close()
  }
}

function open(store: string): PostgresConnections {
  try {
    return new PostgresConnections(parsePostgresUrl(store))
  } catch (error) {
    const { help, message } = error as StoreError
    throw new ArgumentError(message, help)
  }
}

function toStoreError(error: unknown, where: string): unknown {
  const { code = '', message, severity } = error as Error & { code?: string; severity?: string }
  // Anything else did not come from the database.
  if (severity === undefined) return error
  if (NO_TABLES.includes(code))
    return new CliError(
      'CLI_FILE',
      `${where} has no ledger: ${message}`,
      'name the database that gates use',
    )
  const help =
    'grant the role USAGE on the schema `sluice` and SELECT on its tables: docs/concepts/scale.md lists them'
  return new CliError('CLI_FILE', message, help)
}

/** The records of all gates in the order in which they were written, as each gate wrote and numbered them. Every
 * hash is computed again. */
export async function* readAllGates(
  connections: PostgresConnections,
  output: Output,
): AsyncGenerator<HashedRecord[]> {
  const chains = new FollowedChains(connections, new Map())
  await chains.look()
  const known = openNames(await readNames(connections, output))
  for (;;) {
    const records = await chains.take()
    if (records.length === 0) return
    yield records.map(({ gate, text, hash }) => ({
      record: { ...decode(showNames(text, (token) => known.get(token)?.name)), gate },
      hash: toHex(hash),
      encoded: text,
      names: namesIn(text, (token) => known.get(token)),
    }))
  }
}

/** None for a role that may read the records alone: it sees tokens. */
async function readNames(
  connections: PostgresConnections,
  output: Output,
): Promise<StoredNames['rows']> {
  try {
    return (await readStoredNames(connections)).rows
  } catch (error) {
    if ((error as { code?: string }).code !== REFUSED) throw error
    output.remark('note: tokens in place of names: this role may not read `sluice.shared`')
    return []
  }
}

export interface CopyOptions {
  readonly store: string
  /** Keeps the copy in this folder; undefined removes it afterwards. */
  readonly copy: string | undefined
}

/** Copies the records of all gates into a folder and runs `work` on the copy, which reads like the ledger of one gate. */
export async function withCopy<T>(
  { store, copy }: CopyOptions,
  output: Output,
  work: (directory: string, ledger: DatabaseSync) => T | Promise<T>,
): Promise<T> {
  const folder = copy === undefined ? mkdtempSync(join(tmpdir(), 'sluice-copy-')) : resolve(copy)
  const directory = join(folder, COPY_FOLDER)
  let release = () => {}
  try {
    release = takeFileLock(directory, 'copy.lock')
    await withStore(store, (connections) => bringUpToDate(directory, connections, output))
    using ledger = openMergedReadOnly(directory)
    return await work(directory, ledger)
  } finally {
    release()
    if (copy === undefined) rmSync(folder, { recursive: true, force: true })
  }
}

async function bringUpToDate(
  directory: string,
  connections: PostgresConnections,
  output: Output,
): Promise<void> {
  const merged = openMerged(directory)
  try {
    const { chains, dropped } = await lookAtStore(connections, merged)
    // Before the records of which they open the tokens: these are indexed with the names.
    keepNames(directory, await readNames(connections, output))
    if (chains.behind > FOLLOWED_ROWS_MAX) output.remark(`copying ${chains.behind} records`)
    for (let records = await chains.take(); records.length > 0; records = await chains.take())
      merged.append(records)
    merged.drop(dropped)
  } finally {
    merged.close()
  }
}
