// What was moved, so that it can be taken back: for each entry its own bytes before and after. Kept
// beside sluice.yaml, for its owner only: the bytes before may hold keys. Signed with a key of the user's
// (ledger/store/files/user-key.ts), since it says what to write into their files. Written before the client's file is, so
// that a crash between leaves nothing that cannot be undone.

import { lstatSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { type HookClient, isHookClient } from '@sluice/gateway/hooks/clients/table'
import { StoreError } from '@sluice/ledger/store/errors'
import { isSigned, signText } from '@sluice/ledger/store/files/user-key'
import { attempt } from '@sluice/policy/structures/attempt'
import { isObject, type JsonObject } from '@sluice/policy/values/json'
import type { ClientFile, McpClientId } from '../files/client.ts'
import { CLIENTS } from '../files/client.ts'
import { ClientError } from '../files/errors.ts'

export interface MovedEntry {
  readonly client: McpClientId
  readonly file: string
  readonly format: ClientFile['format']
  readonly path: readonly string[]
  /** What it is called behind the gate. */
  readonly server: string
  readonly before: string
  readonly after: string
  /** The entry as it was, and the keys it has now instead. */
  readonly was: JsonObject
  readonly now: JsonObject
}

/** A client's file that has hooks of ours. */
export interface HookedFile {
  readonly client: HookClient
  readonly file: string
  /** The whole file; null if it was not there. */
  readonly before: string | null
  readonly after: string
  /** Of the file before; undefined if it was not there. */
  readonly mode?: number
}

export function readMoved(file: string): MovedEntry[] {
  return readRecord(file, isMoved)
}

export function readHooked(file: string): HookedFile[] {
  return readRecord(file, isHooked)
}

function readRecord<T>(file: string, isValid: (value: unknown) => value is T): T[] {
  const stats = lstatSync(file, { throwIfNoEntry: false })
  if (stats === undefined) return []
  // It says what to write into files of its reader's: one that came with a folder is not believed.
  if (process.platform !== 'win32' && (!stats.isFile() || (stats.mode & 0o077) !== 0))
    throw new ClientError(
      'CLIENT_RECORD',
      `\`${file}\` is not as \`sluice init\` writes it: others may read it, or it is a link`,
      'look at what is in it; if it is yours, take others their right to it (chmod 600)',
    )
  const value: unknown = attempt(() => JSON.parse(readFileSync(file, 'utf8')))
  if (value === undefined) throw damaged(file)
  const { version, moved: list, mac } = isObject(value) ? value : {}
  if (version !== 1 || !Array.isArray(list) || !list.every(isValid)) throw damaged(file)
  if (!withUserKey(() => isSigned('init record', JSON.stringify(list), mac)))
    throw new ClientError(
      'CLIENT_RECORD',
      `\`${file}\` was not written by \`sluice init\` of this user: it may have come with the folder`,
      'look at what is in it; put entries back by hand, and remove the file',
    )
  return list
}

export function writeRecord(file: string, moved: readonly (MovedEntry | HookedFile)[]): void {
  if (moved.length === 0) return rmSync(file, { force: true })
  const fresh = `${file}.new`
  rmSync(fresh, { force: true })
  const mac = withUserKey(() => signText('init record', JSON.stringify(moved)))
  writeFileSync(fresh, `${JSON.stringify({ version: 1, moved, mac }, null, 2)}\n`, {
    mode: 0o600,
    flag: 'wx',
  })
  renameSync(fresh, file)
}

export function sameEntry(
  a: Pick<MovedEntry, 'file' | 'path'>,
  b: Pick<MovedEntry, 'file' | 'path'>,
): boolean {
  return a.file === b.file && JSON.stringify(a.path) === JSON.stringify(b.path)
}

/** The user's key, with its errors as those of this module. */
function withUserKey<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    throw new ClientError('CLIENT_RECORD', error.message, error.help)
  }
}

function isMoved(value: unknown): value is MovedEntry {
  if (!isObject(value)) return false
  const { client, file, format, path, server, before, after, was, now } = value
  return (
    typeof client === 'string' &&
    Object.hasOwn(CLIENTS, client) &&
    [file, server, before, after].every((one) => typeof one === 'string') &&
    (format === 'json' || format === 'toml') &&
    Array.isArray(path) &&
    path.length > 0 &&
    path.every((one: unknown) => typeof one === 'string') &&
    isObject(was) &&
    isObject(now)
  )
}

function isHooked(value: unknown): value is HookedFile {
  if (!isObject(value)) return false
  const { client, file, before, after, mode } = value
  if (mode !== undefined && !Number.isInteger(mode)) return false
  const isText = (one: unknown) => typeof one === 'string'
  return (
    isHookClient(client) && isText(file) && isText(after) && (before === null || isText(before))
  )
}

function damaged(file: string): ClientError {
  return new ClientError(
    'CLIENT_RECORD',
    `\`${file}\` is damaged`,
    'the entries that run `sluice stdio` have to be put back by hand',
  )
}
