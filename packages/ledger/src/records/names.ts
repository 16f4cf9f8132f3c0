// Names of people and callers: records have a token in their place, and a row of `ledger-names.db` opens it. Without the
// row nobody can find the name again, and hashes, checkpoints and proofs stay as they are. A token is an HMAC of the
// name under a salt of its own, so that no row can give a token another name.

import { createHmac, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite'
import { asBuffer } from '../store/as-buffer.ts'
import { inTransaction } from '../store/sqlite/in-transaction.ts'
import { type OpenOptions, openDatabase, overwriteDeleted } from '../store/sqlite/open.ts'
import { LedgerError } from './errors.ts'
import { MERGED_FOLDER, NAMES_FILE } from './files.ts'
import { REMEMBERED_NAMES_MAX } from './limits.ts'

/** A row whose `name` and `salt` are null is of somebody who was forgotten. */
const SCHEMA = `
  CREATE TABLE names (token TEXT PRIMARY KEY, name TEXT, salt BLOB) STRICT, WITHOUT ROWID;
  CREATE INDEX names_name ON names (name) WHERE name IS NOT NULL;`

export const TOKEN_START = 'person:'
/** A token, or the start of one that a foreign text has: that is written twice. */
const TOKEN = /person:(:|[\w-]{22})/g
/** Where a call has its caller, see encoding.ts. */
const CALLER_FIELD = 7

export function namesFile(directory: string): OpenOptions {
  // As the ledger: after a loss of power no record may have a token without a row.
  return { directory, name: NAMES_FILE, migrations: [SCHEMA], sync: 'full' }
}

/** A row that opens a token. */
export interface NameRow {
  readonly token: string
  readonly name: string
  /** base64url. */
  readonly salt: string
}

export function makeToken(name: string, salt: Uint8Array): string {
  const digest = createHmac('sha256', salt).update(name).digest()
  return `${TOKEN_START}${digest.toString('base64url', 0, 16)}`
}

/** The names of a data directory, for its gate. */
export class Names {
  readonly database: DatabaseSync
  readonly #tokens = new Map<string, string>()
  readonly #find: StatementSync
  readonly #add: StatementSync
  #version = 0

  constructor(directory: string) {
    this.database = openDatabase(namesFile(directory))
    this.#find = this.database.prepare('SELECT token FROM names WHERE name = ? ORDER BY token')
    this.#add = this.database.prepare('INSERT INTO names VALUES (?, ?, ?)')
  }

  /** Another number whenever a name may have got another token. */
  get version(): number {
    return this.#version
  }

  /** The token of a caller or person, made if there is none. The row is stored before any record has the token. */
  know(name: string): string {
    const known = this.tokenOf(name)
    if (known !== undefined) return known
    const salt = randomBytes(32)
    const token = makeToken(name, salt)
    this.#add.run(token, name, salt)
    this.#version++
    return this.#remember(name, token)
  }

  /** The token of a name; undefined if it is that of nobody. */
  tokenOf(name: string): string | undefined {
    const remembered = this.#tokens.get(name)
    if (remembered !== undefined) return remembered
    const row = this.#find.get(name)
    return row === undefined ? undefined : this.#remember(name, String(row.token))
  }

  /** All tokens of a name: two gates that meet a person at the same time make one each. */
  tokensOf(name: string): string[] {
    return this.#find.all(name).map(({ token }) => String(token))
  }

  list(): readonly Record<string, SQLOutputValue>[] {
    return this.database.prepare('SELECT token, name, salt FROM names').all()
  }

  addMissing(rows: readonly Record<string, SQLOutputValue>[]): void {
    const add = this.database.prepare('INSERT OR IGNORE INTO names VALUES (?, ?, ?)')
    inTransaction(this.database, () => {
      for (const { token, name, salt } of rows)
        add.run(token as string, name as string, salt as Uint8Array)
    })
    this.#version++
  }

  /** Removes the name, and keeps that there was one. */
  forget(tokens: readonly string[]): void {
    const forget = this.database.prepare(
      'UPDATE names SET name = NULL, salt = NULL WHERE token = ?',
    )
    for (const token of tokens) forget.run(token)
    this.reload()
    overwriteDeleted(this.database)
  }

  /** Another gate has changed rows. */
  reload(): void {
    this.#tokens.clear()
    this.#version++
  }

  close(): void {
    this.database.close()
  }

  [Symbol.dispose](): void {
    this.close()
  }

  #remember(name: string, token: string): string {
    if (this.#tokens.size >= REMEMBERED_NAMES_MAX) this.#tokens.clear()
    this.#tokens.set(name, token)
    return token
  }
}

/** Where the names beside a ledger are. The ledger of all gates is in a folder below them, unless a data directory has
 * the name of that folder. */
export function namesDirectory(directory: string): string {
  const isBelow = basename(directory) === MERGED_FOLDER && !existsSync(join(directory, NAMES_FILE))
  return isBelow ? dirname(directory) : directory
}

/** Makes the names beside a ledger readable on its connection. */
export function attachNames(ledger: DatabaseSync, directory: string): void {
  const file = join(namesDirectory(directory), NAMES_FILE)
  if (!existsSync(file)) return
  try {
    ledger.prepare('ATTACH ? AS known').run(file)
    ledger.prepare('SELECT 1 FROM known.names LIMIT 1').get()
  } catch {
    // Of a directory that may not be written, with an open write-ahead log: tokens are shown.
  }
}

/** The names beside one ledger. */
interface NameLookUp {
  readonly statement: StatementSync | undefined
  /** Names whose row has opened the token: the HMAC takes ten times as long as the row. */
  readonly opened: Map<string, string>
}

const lookUps = new WeakMap<DatabaseSync, NameLookUp>()

/** The row of a token; undefined if there is none, null if its name was forgotten. */
export function findName(ledger: DatabaseSync, token: string): NameRow | null | undefined {
  const { statement, opened } = lookUps.get(ledger) ?? prepareLookUp(ledger)
  const row = statement?.get(token)
  if (row === undefined) return undefined
  if (row.name === null) return null
  const salt = asBuffer(row.salt as Uint8Array)
  const name = String(row.name)
  // A row that does not open its token is nobody's: it was edited.
  if (opened.get(token) !== name) {
    if (makeToken(name, salt) !== token) return undefined
    if (opened.size >= REMEMBERED_NAMES_MAX) opened.clear()
    opened.set(token, name)
  }
  return { token, name, salt: salt.toString('base64url') }
}

function prepareLookUp(ledger: DatabaseSync): NameLookUp {
  const isThere = ledger
    .prepare('PRAGMA database_list')
    .all()
    .some(({ name }) => name === 'known')
  const sql = 'SELECT name, salt FROM known.names WHERE token = ?'
  const lookUp = { statement: isThere ? ledger.prepare(sql) : undefined, opened: new Map() }
  lookUps.set(ledger, lookUp)
  return lookUp
}

/** The rows of the tokens in the text of a record. */
export function namesIn(
  text: string,
  find: (token: string) => NameRow | null | undefined,
): NameRow[] {
  if (!text.includes(TOKEN_START)) return []
  const tokens = new Set(text.match(TOKEN))
  return [...tokens].flatMap((token) => find(token) ?? [])
}

/** The text of a record with the names of its tokens. A forgotten person, and one without a row, stays a token. */
export function showNames(text: string, nameOf: (token: string) => string | undefined): string {
  if (!text.includes(TOKEN_START)) return text
  return text.replace(TOKEN, (token, end: string) => {
    if (end === ':') return TOKEN_START
    const name = nameOf(token)
    return name === undefined ? token : JSON.stringify(name).slice(1, -1)
  })
}

/** The text of a record as its readers see it. */
export function shownText(ledger: DatabaseSync, text: string): string {
  return showNames(text, (token) => findName(ledger, token)?.name)
}

/** The same for the records of one block, which are mostly of one caller: each token is looked up once. */
export function shownTexts(ledger: DatabaseSync): (text: string) => string {
  const known = new Map<string, string | undefined>()
  return (text) =>
    showNames(text, (token) => {
      if (!known.has(token)) known.set(token, findName(ledger, token)?.name)
      return known.get(token)
    })
}

/** The same for a restart: with a caller that cannot be named, limits and labels of its sessions would begin again. */
export function restoredText(ledger: DatabaseSync, text: string): string {
  return showNames(text, (token) => {
    const row = findName(ledger, token)
    if (row !== undefined || !isCaller(text, token)) return row?.name
    throw new LedgerError(
      'LEDGER_BROKEN',
      `\`${NAMES_FILE}\` has no row for \`${token}\`, which a recent record names`,
      'restore the file from where the ledger is from, or begin with a new data directory',
    )
  })
}

/** Whether the call of a record is by this caller. Elsewhere 0.1.0 wrote texts of strangers that look like a token. */
function isCaller(text: string, token: string): boolean {
  return JSON.parse(text)[CALLER_FIELD] === token
}
