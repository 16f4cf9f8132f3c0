// Logins at MCP servers, in the data directory: encrypted with a key of the installation, each
// bound to its server and principal, so that none can be moved to another's place. Commands write
// them; a running gate sees them at the next refresh and stores refreshed tokens. In a cluster they are
// encrypted with its key; what a command has stored with that of the installation is sealed again.

import { BYTES } from '@sluice/ledger/store/read-row'
import { Vault } from '@sluice/ledger/store/vault'
import { attempt } from '@sluice/policy/structures/attempt'
import { IdentityFile } from '../identity-file.ts'
import { InstallationKey } from '../keys/installation-key.ts'
import { CREDENTIALS_MAX } from '../limits.ts'
import { isDue, type Login, type LoginOf } from './login.ts'

interface LoginRow {
  readonly of: LoginOf
  readonly sealed: Uint8Array
  readonly atMs: number
}

export class Logins {
  readonly file: IdentityFile
  readonly #vault: Vault
  /** The vault with the key of the installation, if that is another one. */
  readonly #own: Vault | undefined
  readonly #cached = new Map<string, Login | undefined>()

  private constructor(directory: string, shared: InstallationKey | undefined) {
    const own = new Vault(InstallationKey.at(directory).derive('logins', 32))
    this.#vault = shared === undefined ? own : new Vault(shared.derive('logins', 32))
    this.#own = shared && own
    this.file = new IdentityFile(directory)
  }

  static open(directory: string, shared?: InstallationKey): Logins {
    return new Logins(directory, shared)
  }

  /** Seals with the key of the cluster what a command has stored with that of this installation. Returns
   * the names of all there are. */
  adopt(nowMs: number): LoginOf[] {
    return this.#rows().map((row) => {
      const own = this.#openOwn(row)
      if (own !== undefined) this.put(row.of, own, nowMs)
      return row.of
    })
  }

  /** Returns undefined if there is none, or none that this installation's key opens. */
  get(of: LoginOf): Login | undefined {
    this.file.ifChanged(() => this.#cached.clear())
    const name = toBinding(of)
    if (!this.#cached.has(name)) this.#cached.set(name, this.#read(of))
    return this.#cached.get(name)
  }

  /** Logins that only the key of this installation opens. What it returns stores them again, as they were, if
   * there is no other one of the same name by then. */
  holdOwn(): () => void {
    const own = this.#rows().filter((row) => this.#openOwn(row) !== undefined)
    const insert = 'INSERT OR IGNORE INTO logins VALUES (?, ?, ?, ?)'
    return () => {
      for (const { of, sealed, atMs } of own)
        this.file.run(insert, of.server, of.principal, sealed, atMs)
    }
  }

  put(of: LoginOf, login: Login, nowMs: number): void {
    const sealed = this.#vault.seal(toBinding(of), JSON.stringify(login))
    const sql = 'INSERT OR REPLACE INTO logins VALUES (?, ?, ?, ?)'
    this.file.run(sql, of.server, of.principal, sealed, nowMs)
    this.#cached.set(toBinding(of), login)
  }

  /** False if there was none. */
  remove(of: LoginOf): boolean {
    const sql = 'DELETE FROM logins WHERE server = ? AND principal = ?'
    this.#cached.delete(toBinding(of))
    return this.file.run(sql, of.server, of.principal) > 0
  }

  /** Removes tokens that have ended and cannot be renewed, and of such tokens the oldest beyond the limit. */
  sweep(nowMs: number): void {
    let kept = 0
    for (const { of } of this.#rows()) {
      const login = this.get(of)
      if (login === undefined || login.refreshToken !== undefined || !of.principal.includes(' '))
        continue
      if (isDue(login, nowMs, 0) || ++kept > CREDENTIALS_MAX) this.remove(of)
    }
  }

  close(): void {
    this.file.close()
  }

  /** The newest first. */
  #rows(): LoginRow[] {
    const sql = 'SELECT server, principal, sealed, updated_ms FROM logins ORDER BY updated_ms DESC'
    return this.file.all(sql).map((row) => ({
      of: { server: String(row.server), principal: String(row.principal) },
      sealed: BYTES.read(row.sealed),
      atMs: Number(row.updated_ms),
    }))
  }

  #read(of: LoginOf): Login | undefined {
    const sql = 'SELECT sealed FROM logins WHERE server = ? AND principal = ?'
    const row = this.file.get(sql, of.server, of.principal)
    return row && unseal(this.#vault, of, BYTES.read(row.sealed))
  }

  /** Returns undefined if the key of the cluster opens it, too. */
  #openOwn({ of, sealed }: LoginRow): Login | undefined {
    if (this.#own === undefined || unseal(this.#vault, of, sealed) !== undefined) return undefined
    return unseal(this.#own, of, sealed)
  }
}

function unseal(vault: Vault, of: LoginOf, sealed: Uint8Array): Login | undefined {
  return attempt(() => JSON.parse(vault.open(toBinding(of), sealed)) as Login)
}

function toBinding({ server, principal }: LoginOf): string {
  return JSON.stringify(['login', server, principal])
}
