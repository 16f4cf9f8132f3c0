// Logins at MCP servers, in the data directory: encrypted with a key of the installation, each
// bound to its server and principal, so that none can be moved to another's place. Commands write
// them; a running gate sees them at the next refresh and stores refreshed tokens. In a cluster they are
// encrypted with its key; what a command has stored with that of the installation is sealed again.

import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { guardFile } from '../../store/files/faults.ts'
import { openDatabase } from '../../store/sqlite/open.ts'
import { identityFile } from '../identity-file.ts'
import { InstallationKey } from '../keys/installation-key.ts'
import { CREDENTIALS_MAX } from '../limits.ts'
import { isDue, type Login, type LoginOf } from './login.ts'

const NONCE_BYTES = 12
const TAG_BYTES = 16

export class Logins {
  readonly #database: DatabaseSync
  readonly #file: string
  readonly #key: Buffer
  /** The installation's, if that is another one. */
  readonly #own: Buffer | undefined
  readonly #version: StatementSync
  readonly #cached = new Map<string, Login | undefined>()
  #seen: unknown

  private constructor(
    database: DatabaseSync,
    file: string,
    { key, own }: { readonly key: Buffer; readonly own?: Buffer | undefined },
  ) {
    this.#database = database
    this.#file = file
    this.#key = key
    this.#own = own
    this.#version = database.prepare('PRAGMA data_version')
  }

  static open(directory: string, shared?: InstallationKey): Logins {
    const options = identityFile(directory)
    const own = InstallationKey.at(directory).derive('logins', 32)
    const keys = shared === undefined ? { key: own } : { key: shared.derive('logins', 32), own }
    return new Logins(openDatabase(options), `${directory}/${options.name}`, keys)
  }

  /** Seals with the key of the cluster what a command has stored with that of this installation. Returns
   * the names of all there are. */
  adopt(nowMs: number): LoginOf[] {
    return guardFile(this.#file, () => {
      const rows = this.#database.prepare('SELECT server, principal, sealed FROM logins').all()
      return rows.map((row) => {
        const of = { server: String(row.server), principal: String(row.principal) }
        const sealed = Buffer.from(row.sealed as Uint8Array)
        if (this.#own !== undefined && this.#unseal(of, sealed) === undefined) {
          const login = this.#unseal(of, sealed, this.#own)
          if (login !== undefined) this.put(of, login, nowMs)
        }
        return of
      })
    })
  }

  /** Undefined if there is none, or none that this installation's key opens. */
  get(of: LoginOf): Login | undefined {
    return guardFile(this.#file, () => {
      const version = this.#version.get()?.data_version
      if (version !== this.#seen) this.#cached.clear()
      this.#seen = version
      const name = toBinding(of)
      if (!this.#cached.has(name)) this.#cached.set(name, this.#read(of))
      return this.#cached.get(name)
    })
  }

  /** Logins that only the key of this installation opens. What it returns stores them again, as they were, if
   * there is no other one of the same name by then. */
  holdOwn(): () => void {
    const select = 'SELECT server, principal, sealed, updated_ms FROM logins'
    const rows = guardFile(this.#file, () => this.#database.prepare(select).all())
    const own = rows.filter((row) => {
      const of = { server: String(row.server), principal: String(row.principal) }
      const sealed = Buffer.from(row.sealed as Uint8Array)
      return this.#unseal(of, sealed) === undefined && this.#unseal(of, sealed, this.#own)
    })
    return () => {
      const insert = this.#database.prepare('INSERT OR IGNORE INTO logins VALUES (?, ?, ?, ?)')
      for (const { server, principal, sealed, updated_ms: at } of own)
        guardFile(this.#file, () =>
          insert.run(String(server), String(principal), sealed ?? null, at ?? 0),
        )
    }
  }

  put(of: LoginOf, login: Login, nowMs: number): void {
    guardFile(this.#file, () =>
      this.#database
        .prepare('INSERT OR REPLACE INTO logins VALUES (?, ?, ?, ?)')
        .run(of.server, of.principal, this.#seal(of, login), nowMs),
    )
    this.#cached.set(toBinding(of), login)
  }

  /** False if there was none. */
  remove({ server, principal }: LoginOf): boolean {
    const { changes } = guardFile(this.#file, () =>
      this.#database
        .prepare('DELETE FROM logins WHERE server = ? AND principal = ?')
        .run(server, principal),
    )
    this.#cached.delete(toBinding({ server, principal }))
    return Number(changes) > 0
  }

  /** Removes tokens that have ended and cannot be renewed, and of such tokens the oldest beyond the limit. */
  sweep(nowMs: number): void {
    const select = 'SELECT server, principal FROM logins ORDER BY updated_ms DESC'
    const rows = guardFile(this.#file, () => this.#database.prepare(select).all())
    let kept = 0
    for (const row of rows) {
      const of = { server: String(row.server), principal: String(row.principal) }
      const login = this.get(of)
      if (login === undefined || login.refreshToken !== undefined || !of.principal.includes(' '))
        continue
      if (isDue(login, nowMs, 0) || ++kept > CREDENTIALS_MAX) this.remove(of)
    }
  }

  /** For the gate that shares it. */
  get database(): DatabaseSync {
    return this.#database
  }

  close(): void {
    if (this.#database.isOpen) this.#database.close()
  }

  #read(of: LoginOf): Login | undefined {
    const row = this.#database
      .prepare('SELECT sealed FROM logins WHERE server = ? AND principal = ?')
      .get(of.server, of.principal)
    return row === undefined ? undefined : this.#unseal(of, Buffer.from(row.sealed as Uint8Array))
  }

  #seal(of: LoginOf, login: Login): Buffer {
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce).setAAD(bindingBytes(of))
    const body = Buffer.concat([cipher.update(JSON.stringify(login)), cipher.final()])
    return Buffer.concat([nonce, cipher.getAuthTag(), body])
  }

  #unseal(of: LoginOf, sealed: Buffer, key = this.#key): Login | undefined {
    try {
      const nonce = sealed.subarray(0, NONCE_BYTES)
      const options = { authTagLength: TAG_BYTES }
      const cipher = createDecipheriv('aes-256-gcm', key, nonce, options)
        .setAAD(bindingBytes(of))
        .setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
      const body = cipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES))
      return JSON.parse(Buffer.concat([body, cipher.final()]).toString('utf8')) as Login
    } catch {
      return undefined
    }
  }
}

function toBinding({ server, principal }: LoginOf): string {
  return JSON.stringify(['login', server, principal])
}

function bindingBytes(of: LoginOf): Buffer {
  return Buffer.from(toBinding(of))
}
