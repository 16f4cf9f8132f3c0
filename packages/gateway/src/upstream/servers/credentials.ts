// The tokens that the gate shows to servers: of logins that people made, and of grants that the gate asks for
// by itself. A token is found in the store, renewed ahead of its end and when a server refuses it, once at a
// time for all sessions and, under a lease, for all gates. It is only ever shown to the address it was made for.

import { hash } from 'node:crypto'
import { type Caller, getCallerKey, NOBODY } from '@sluice/access/identity/callers/caller'
import type { Issuer } from '@sluice/access/identity/callers/issuer'
import {
  CREDENTIAL_REST_MS,
  CREDENTIAL_REST_MS_MAX,
  CREDENTIALS_MAX,
  FAILED_FETCH_REST_MS,
  RENEW_AHEAD_MS,
} from '@sluice/access/identity/limits'
import { IssuerMetadata } from '@sluice/access/identity/oauth/issuer-metadata'
import { isDue, type Login, type LoginOf } from '@sluice/access/identity/oauth/login'
import type { Logins } from '@sluice/access/identity/oauth/logins'
import { FetchFailedError } from '@sluice/access/identity/oauth/outgoing'
import { SecretError } from '@sluice/access/identity/oauth/secret-text'
import {
  InvalidGrantError,
  refreshLogin,
  TokenRefusedError,
} from '@sluice/access/identity/oauth/token-request'
import { LruMap } from '@sluice/policy/structures/lru-map'
import type { JsonObject } from '@sluice/policy/values/json'
import type { ServerConfig } from '../../config/config.ts'
import type { LoginConfig } from '../../config/login.ts'
import type { Log } from '../../shared/log.ts'
import { describeSecretFault } from '../secret-fault.ts'
import type { MessageCredential } from '../upstream.ts'

export interface CredentialsOptions {
  readonly logins: Logins
  readonly log: Log
  /** What the ledger has of a token: whose, for what and until when, or why there is none; never the token. */
  readonly record?: (detail: JsonObject) => void
  readonly nowMs: () => number
  readonly issuers: readonly Issuer[]
  /** The page of the console where a person signs in at a server; undefined if nobody reaches one. */
  readonly connectAt?: ((server: string) => string | undefined) | undefined
  /** If gates share their logins: one renewal at a time, with what the last one has stored. */
  readonly alone?: RunAlone | undefined
}

/** Runs `work` while no other gate does the same. */
export type RunAlone = <Result>(
  name: string,
  work: (lease: { isHeld(): boolean }) => Promise<Result>,
) => Promise<Result>

/** A server, and how it is logged in at. */
interface CredentialTarget {
  readonly of: LoginOf
  readonly url: string
  readonly login: LoginConfig
}

/** Whether a person in a browser gave it. */
const isPersonal = ({ kind }: LoginConfig): boolean => kind === 'gate' || kind === 'principal'

export class Credentials {
  readonly #options: CredentialParts
  readonly #known = new LruMap<string, Credential>(CREDENTIALS_MAX)

  constructor(options: CredentialsOptions) {
    const { alone = (_, work) => work({ isHeld: () => true }), nowMs } = options
    const identity: CredentialParts['identity'] = (issuer, caller) => this.#identity(issuer, caller)
    this.#options = { ...options, alone, identity, metadata: new IssuerMetadata(nowMs) }
  }

  /** One for each server and whose it is, so that nobody renews what another is renewing. */
  of(server: string, { url, login }: Omit<CredentialTarget, 'of'>, caller: Caller): Credential {
    return this.#find({ of: { server, principal: keyOf(login, url, caller) }, url, login }, caller)
  }

  #find(target: CredentialTarget, caller: Caller): Credential {
    const name = JSON.stringify([target.of.server, target.of.principal, target.url])
    const known = this.#known.get(name) ?? new Credential(target, caller, this.#options)
    this.#known.set(name, known)
    known.caller = caller
    known.login = target.login
    return known
  }

  /** Who the caller is at an issuer, by `sluice login issuer:NAME`. */
  #identity({ name, issuer, client }: Issuer, caller: Caller): Credential {
    const of = { server: `issuer:${name}`, principal: caller.principal.id }
    const login: LoginConfig = { kind: 'principal', scopes: [], issuer, client }
    return this.#find({ of, url: issuer, login }, caller)
  }

  /** Tells people which credential a server is called with, until when, and why the last one was refused; empty
   * if it needs none. */
  describe(server: string, config: ServerConfig): string {
    if (config.kind !== 'http' || config.login === undefined) return ''
    const { url, login } = config
    // It may be stored, and not used since the start.
    if (!isCallers(login)) this.of(server, { url, login }, NOBODY)
    const all = [...this.#known].map(([, one]) => one)
    const own = all.filter(({ target }) => target.of.server === server)
    const ends = own.flatMap(({ row }) => row?.expiresMs ?? [])
    const until = ends.length === 0 ? '' : ` until ${new Date(Math.max(...ends)).toISOString()}`
    const why = own.findLast(({ refusal }) => refusal !== undefined)?.refusal
    return `login: ${login.kind}${until}${why === undefined ? '' : `, last refused: ${why}`}`
  }
}

const isCallers = ({ kind }: LoginConfig): boolean =>
  kind === 'principal' || kind === 'exchange' || kind === 'id-jag'

/** Whose token it is. That of a grant is for the same rights and the same request only: another caller key, or
 * another entry of the configuration, gets another one. */
function keyOf(login: LoginConfig, url: string, caller: Caller): string {
  const id = isCallers(login) ? caller.principal.id : ''
  if (isPersonal(login)) return id
  const rights = login.kind === 'exchange' ? getCallerKey(caller) : ''
  const key = hash('sha256', JSON.stringify([rights, login, url]), 'base64url')
  return `${id} ${key}`
}

interface CredentialParts extends CredentialsOptions {
  readonly alone: RunAlone
  readonly metadata: IssuerMetadata
  readonly identity: (issuer: Issuer, caller: Caller) => Credential
}

export class Credential implements MessageCredential {
  readonly target: CredentialTarget
  /** The newest of those who have the same rights. */
  caller: Caller
  /** The login that the configuration has now: a secret may have been rotated. */
  login: LoginConfig
  /** In the words of the authorisation server, for people. */
  refusal: string | undefined
  readonly #parts: CredentialParts
  #renewing: Promise<boolean> | undefined
  #failure: MessageCredential['failure']
  /** The header that was got because a server refused the one before, until it is accepted. */
  #unproven: string | undefined
  #restMs = 0
  #restUntilMs = 0

  constructor(target: CredentialTarget, caller: Caller, parts: CredentialParts) {
    this.target = target
    this.login = target.login
    this.caller = caller
    this.#parts = parts
  }

  /** What to do if the server refuses the token. The words of the authorisation server are in the log only,
   * because a model may read this. */
  get help(): string {
    if (!isPersonal(this.login)) return 'the log of the gate says which token it was'
    if (this.refusal === undefined || this.row === undefined) {
      const { connectAt: page } = this
      return `${page === undefined ? '' : `sign in at ${page}, or `}run \`${this.#command}\``
    }
    return 'the login is stored and could not be renewed: the log of the gate says why, and the next call tries again'
  }

  /** Each person gives their own login there. */
  get connectAt(): string | undefined {
    const { server } = this.target.of
    return this.login.kind === 'principal' ? this.#parts.connectAt?.(server) : undefined
  }

  get #command(): string {
    const { server, principal } = this.target.of
    if (server.startsWith('issuer:')) return `sluice login ${server}`
    return `sluice login ${server}${principal === '' ? '' : ` --principal ${principal}`}`
  }

  /** The value of `Authorization`. */
  get header(): string | undefined {
    const row = this.row
    return row === undefined ? undefined : `Bearer ${row.accessToken}`
  }

  /** Why there is no credential. If no person has logged in, the server itself says what it wants. */
  get failure(): MessageCredential['failure'] {
    if (isPersonal(this.login)) return undefined
    const { row } = this
    const isUsable = row !== undefined && !isDue(row, this.#parts.nowMs(), 0)
    return this.#objection ?? (isUsable ? undefined : this.#failure)
  }

  ready(): Promise<unknown> | undefined {
    const { row } = this
    const nowMs = this.#parts.nowMs()
    const isFresh = row !== undefined && !isDue(row, nowMs, RENEW_AHEAD_MS)
    if (isFresh || !this.#canRenew(row)) return undefined
    const renewed = this.#renew(row)
    // While the old one is still valid, no request has to wait for the new one.
    return row === undefined || isDue(row, nowMs, 0) ? renewed : undefined
  }

  async refused(header: string | undefined): Promise<boolean> {
    const { row } = this
    if (row === undefined) return false
    // There is another one by now. A refresh token may be good for one use, and others use what it gave.
    if (header !== this.header) return true
    if (!this.#canRenew(row)) return false
    // A server that refuses fresh tokens would make the gate ask for ever.
    if (header === this.#unproven) {
      this.#restMs = Math.min(CREDENTIAL_REST_MS_MAX, this.#restMs * 2 || CREDENTIAL_REST_MS)
      this.#restUntilMs = this.#parts.nowMs() + this.#restMs
      return false
    }
    const isNew = await this.#renew(row)
    if (isNew) this.#unproven = this.header
    return isNew
  }

  #canRenew(row: Login | undefined): boolean {
    if (this.#parts.nowMs() < this.#restUntilMs) return false
    return isPersonal(this.login) ? row?.refreshToken !== undefined : this.#objection === undefined
  }

  accepted(header: string | undefined): void {
    if (this.#unproven === undefined || header !== this.#unproven) return
    this.#unproven = undefined
    this.#restMs = 0
  }

  /** The ID token of a person at an issuer. Undefined if there is none, or it has ended and cannot be renewed. */
  async idToken(): Promise<string | undefined> {
    await this.ready()
    const row = this.row
    return row === undefined || isDue(row, this.#parts.nowMs(), 0) ? undefined : row.idToken
  }

  /** The login as it is stored. */
  get row(): Login | undefined {
    const row = this.#parts.logins.get(this.target.of)
    return row?.url === this.target.url ? row : undefined
  }

  /** What the caller lacks. */
  get #objection(): MessageCredential['failure'] {
    const { kind, via } = this.login
    const { caller } = this
    const lacks = (what: string, why: string, help: string) => {
      const who = `the server \`${this.target.of.server}\` wants ${what} of \`${via}\``
      const message = `${who}, and \`${caller.principal.id}\` ${why}`
      return { code: 'UPSTREAM_NEEDS_LOGIN', message, help } as const
    }
    // An agent may run on after the token of its caller has ended.
    if (kind === 'exchange' && (caller.subject?.().issuer !== via || !caller.holds())) {
      const how = caller.subject === undefined ? 'a grant of this gate' : 'none that holds'
      const help = `call with a token of \`${via}\`, or say \`login: client\``
      return lacks('a token', `came with ${how}`, help)
    }
    const issuer = this.#via
    if (kind === 'id-jag' && issuer && this.#parts.identity(issuer, caller).row === undefined)
      return lacks('an identity', 'has none here', `run \`sluice login issuer:${via}\``)
    return undefined
  }

  get #via(): Issuer | undefined {
    return this.#parts.issuers.find(({ name }) => name === this.login.via)
  }

  /** Never rejects: it is begun ahead of its time, too, and nobody waits for it then. */
  #renew(row: Login | undefined): Promise<boolean> {
    this.#renewing ??= this.#ask(row)
      .catch((error: Error) => {
        this.#failed(error)
        return false
      })
      .finally(() => {
        this.#renewing = undefined
      })
    return this.#renewing
  }

  #failed(error: Error): void {
    const { log, nowMs } = this.#parts
    const { server } = this.target.of
    const isOver = this.#isOver(error)
    this.refusal = isOver ? undefined : error.message
    const help = isOver ? { run: this.#command } : {}
    log('warn', 'no newer token for a server', { server, why: error.message, ...help })
    const { client, issuer = null } = this.#via ?? this.login
    // The words of others stay in the log: a model may read this.
    const why = error instanceof TokenRefusedError ? error.error : 'the log of the gate says why'
    this.#record({ issuer, refused: why, isRemoved: isOver })
    if (isPersonal(this.login)) return
    this.#restUntilMs = nowMs() + FAILED_FETCH_REST_MS
    const message = `\`${issuer}\` gave no token for \`${server}\`: ${why}`
    const allow = `let \`${client?.clientId}\` have one for it there`
    const code = 'UPSTREAM_TOKEN_REFUSED'
    if (error instanceof SecretError)
      this.#failure = { ...describeSecretFault(server, error.message), help: READ_AGAIN }
    else if (isTemporary(error))
      this.#failure = { code, message, help: TRY_AGAIN, retryAfterMs: FAILED_FETCH_REST_MS }
    else this.#failure = { code, message, help: allow }
  }

  #record(detail: JsonObject): void {
    const { server, principal } = this.target.of
    const [whose = ''] = principal.split(' ')
    this.#parts.record?.({ server, principal: whose, login: this.login.kind, ...detail })
  }

  /** Only a person can get another one. */
  #isOver(error: unknown): boolean {
    return error instanceof InvalidGrantError && isPersonal(this.login)
  }

  /** True if there is another token than that of the row. */
  #ask(row: Login | undefined): Promise<boolean> {
    this.refusal = undefined
    const { alone, logins, nowMs } = this.#parts
    const { of } = this.target
    // Another gate, or a new login: a refresh token may be good for one use, and that one stored the next.
    const isReplaced = () => logins.get(of)?.accessToken !== row?.accessToken
    return alone(`login ${JSON.stringify([of.server, of.principal])}`, async (lease) => {
      if (isReplaced()) return true
      if (!lease.isHeld()) throw new Error('the gate was stopped for too long')
      try {
        const newer = await this.#obtain(row)
        if (!isReplaced()) logins.put(of, newer, nowMs())
        const { expiresMs, issuer, resource, scope = '' } = newer
        const until = expiresMs === undefined ? null : new Date(expiresMs).toISOString()
        this.#record({ issuer, resource, scope, until })
      } catch (error) {
        if (isReplaced()) return true
        if (this.#isOver(error)) logins.remove(of)
        throw error
      }
      return true
    })
  }

  async #obtain(row: Login | undefined): Promise<Login> {
    const { caller, login } = this
    if (isPersonal(login)) return refreshLogin(row as Login, login, this.#parts.nowMs())
    // Loaded with the first grant: most gates have none.
    const { obtainToken } = await import('./obtain-token.ts')
    const { metadata, nowMs } = this.#parts
    const identity = (issuer: Issuer) => this.#parts.identity(issuer, caller)
    const via = this.#via
    return obtainToken({ login, url: this.target.url, caller, via, metadata, identity, nowMs })
  }
}

const READ_AGAIN = 'it is read again with each call'
const TRY_AGAIN = `temporary: try again in ${FAILED_FETCH_REST_MS / 1_000} s`

/** The authorisation server is down, and has not said no. */
function isTemporary(error: Error): boolean {
  return error instanceof TokenRefusedError ? error.isTemporary : error instanceof FetchFailedError
}
