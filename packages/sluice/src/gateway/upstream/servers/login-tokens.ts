// The tokens that the gate shows to servers with a login: found in the store, renewed ahead of expiry
// and when a server refuses one, once at a time for all sessions that use it. A token is only ever shown
// to the address it was made for.

import { RENEW_AHEAD_MS } from '../../../identity/limits.ts'
import { isDue, type Login, type LoginOf } from '../../../identity/oauth/login.ts'
import type { Logins } from '../../../identity/oauth/logins.ts'
import { InvalidGrantError, refreshLogin } from '../../../identity/oauth/token-request.ts'
import type { ServerConfig } from '../../config/config.ts'
import type { Log } from '../../shared/log.ts'

export interface LoginTokensOptions {
  readonly logins: Logins
  readonly log: Log
  readonly nowMs: () => number
  /** The servers as they are configured now. */
  readonly servers: { find(name: string): ServerConfig | undefined }
  /** If gates share their logins: one renewal at a time, with what the last one has stored. */
  readonly alone?: RunAlone | undefined
}

/** Runs `work` while no other gate does the same. */
export type RunAlone = <Result>(
  name: string,
  work: (lease: { isHeld(): boolean }) => Promise<Result>,
) => Promise<Result>

export class LoginTokens {
  readonly #options: LoginTokensOptions
  readonly #servers = new Map<string, ServerLogin>()

  constructor(options: LoginTokensOptions) {
    this.#options = options
  }

  /** One for each server and principal, so that nobody renews what another is renewing. */
  of(of: LoginOf, url: string): ServerLogin {
    const name = JSON.stringify([of.server, of.principal, url])
    const known = this.#servers.get(name) ?? new ServerLogin(of, url, this.#options)
    this.#servers.set(name, known)
    return known
  }
}

export class ServerLogin {
  readonly #of: LoginOf
  readonly #url: string
  readonly #options: LoginTokensOptions
  #renewing: Promise<boolean> | undefined
  /** The last renewal failed, and the login is stored all the same. */
  #isStuck = false

  constructor(of: LoginOf, url: string, options: LoginTokensOptions) {
    this.#of = of
    this.#url = url
    this.#options = options
  }

  /** What to do if the server refuses the token. The words of the authorisation server are in the log only,
   * because a model may read this. */
  get help(): string {
    if (!this.#isStuck || this.#login === undefined) return `run \`${this.#command}\``
    return 'the login is stored and could not be renewed: the log of the gate says why, and the next call tries again'
  }

  get #command(): string {
    const { server, principal } = this.#of
    return `sluice login ${server}${principal === '' ? '' : ` --principal ${principal}`}`
  }

  /** The value of `Authorization`. */
  get header(): string | undefined {
    const login = this.#login
    return login === undefined ? undefined : `Bearer ${login.accessToken}`
  }

  /** Undefined if the token can be used as it is. */
  ready(): Promise<unknown> | undefined {
    const login = this.#login
    const nowMs = this.#options.nowMs()
    if (login?.refreshToken === undefined || !isDue(login, nowMs, RENEW_AHEAD_MS)) return undefined
    const renewed = this.#renew(login)
    // While the old one is still valid, no request has to wait for the new one.
    return isDue(login, nowMs, 0) ? renewed : undefined
  }

  /** The server refused this header: true if there is another one to try. */
  async refused(header: string | undefined): Promise<boolean> {
    const login = this.#login
    if (login === undefined) return false
    if (header !== undefined && header !== this.header) return true
    return login.refreshToken === undefined ? false : this.#renew(login)
  }

  get #login(): Login | undefined {
    const login = this.#options.logins.get(this.#of)
    return login?.url === this.#url ? login : undefined
  }

  /** Never rejects: it is begun ahead of its time, too, and nobody waits for it then. */
  #renew(login: Login): Promise<boolean> {
    this.#renewing ??= this.#ask(login)
      .catch((error: Error) => {
        this.#isStuck = !(error instanceof InvalidGrantError)
        const fields = { server: this.#of.server, why: error.message }
        const help = this.#isStuck ? {} : { run: this.#command }
        this.#options.log('warn', 'the login could not be renewed', { ...fields, ...help })
        return false
      })
      .finally(() => {
        this.#renewing = undefined
      })
    return this.#renewing
  }

  #ask(login: Login): Promise<boolean> {
    this.#isStuck = false
    const { alone, logins } = this.#options
    if (alone === undefined) return this.#askHere(login)
    const { server, principal } = this.#of
    return alone(`login ${JSON.stringify([server, principal])}`, async (lease) => {
      // A refresh token may be good for one use: another gate has used it, and stored the next.
      const now = logins.get(this.#of)
      if (now !== undefined && now.accessToken !== login.accessToken) return true
      if (!lease.isHeld()) throw new Error('the gate was stopped for too long')
      return this.#askHere(login)
    })
  }

  async #askHere(login: Login): Promise<boolean> {
    const { logins, nowMs } = this.#options
    try {
      const newer = await refreshLogin(this.#withSecret(login), nowMs())
      // A new login may have happened meanwhile: that one is used.
      if (logins.get(this.#of)?.accessToken === login.accessToken)
        logins.put(this.#of, newer, nowMs())
      return true
    } catch (error) {
      if (logins.get(this.#of)?.accessToken !== login.accessToken) return true
      if (error instanceof InvalidGrantError) logins.remove(this.#of)
      throw error
    }
  }

  /** The secret of the configuration counts, which may have been rotated since the login: for the same
   * client of the same issuer, so that nobody else gets it. */
  #withSecret(login: Login): Login {
    const server = this.#options.servers.find(this.#of.server)
    const { clientId, clientSecret, issuer } = (server?.kind === 'http' && server.login) || {}
    const isOwn = clientId === login.clientId && issuer === login.issuer
    return isOwn && clientSecret !== undefined ? { ...login, clientSecret } : login
  }
}
