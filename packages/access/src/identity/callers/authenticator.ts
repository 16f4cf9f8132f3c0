// Authenticates callers. A token is a grant's, or signed by an authorisation server. Without a
// token only the local user is authenticated, and only if no other way is configured. Called by the
// fronts for every request, so it also detects changed grants and notifies the gate to close
// sessions.

import { describeToCaller } from '@sluice/ledger/store/outage'
import { Listeners } from '@sluice/policy/structures/listeners'
import { LruMap } from '@sluice/policy/structures/lru-map'
import { CALLERS_SEEN_MAX, GRANTS_FRESH_MS } from '../limits.ts'
import { LOCAL_USER } from '../names.ts'
import type { SessionLimit } from '../sessions/agent-sessions.ts'
import type { Caller } from './caller.ts'
import { AuthenticationError } from './caller.ts'
import { type AcsKey, type Grant, hasGrantEnded, isGrantValid } from './grant.ts'
import type { Grants } from './grants.ts'

/** Verifies the tokens of authorisation servers. */
export interface TokenVerifier {
  /** Throws AuthenticationError. `audiences` are the accepted audiences. */
  check(token: string, audiences: readonly string[]): Promise<Caller>
}

export interface Credentials {
  readonly token: string | undefined
  /** The request comes from this machine, over loopback or the socket. */
  readonly isLocal: boolean
  /** The accepted audiences: the URLs of the requested resource. */
  readonly audiences: () => readonly string[]
  /** The server of the client whose hook it is; undefined for any other request. */
  readonly hooks?: string | undefined
  /**
   * The connection: a grant's token that was verified on it need not be hashed again while the
   * grants are unchanged.
   */
  readonly connection?: object
}

/** An agent of the Agent Control Standard. */
export interface AcsAgent {
  readonly key: AcsKey
  readonly caller: Caller
}

export interface AuthenticatorOptions {
  readonly grants: Grants
  /** Present if the configuration names authorisation servers. */
  readonly tokens?: TokenVerifier | undefined
  /** False if the gate can be reached from other machines: then no caller is local. */
  readonly mayBeLocal: boolean
  /** The policy of the local user. */
  readonly localPolicy: string
  /** The quota of the local user, and the window of grants that have none of their own. */
  readonly sessions: SessionLimit
  readonly nowMs: () => number
}

export const GRANT_HELP =
  '`sluice grants add NAME --policy POLICY` makes a token, to be sent as `Authorization: Bearer TOKEN` or, over a pipe, in `SLUICE_TOKEN`'

export class Authenticator {
  readonly #changed = new Listeners()
  /** Grants have changed: sessions whose caller is no longer valid are to be closed. */
  readonly onChange = this.#changed.subscribe
  readonly #options: AuthenticatorOptions
  readonly #callers = new Map<string, { readonly grant: Grant; readonly caller: Caller }>()
  readonly #local: Caller
  readonly #checked = new WeakMap<object, { token: string; readonly grant: Grant }>()
  #lookedMs = Number.NEGATIVE_INFINITY
  /** Principals with tokens, in LRU order. */
  readonly #seen = new LruMap<string, Caller>(CALLERS_SEEN_MAX)

  constructor(options: AuthenticatorOptions) {
    this.#options = options
    this.#local = {
      principal: LOCAL_USER,
      policy: options.localPolicy,
      sessions: options.sessions,
      explain: false,
      holds: () => this.#isOpenToLocal,
    }
  }

  /** Throws AuthenticationError. */
  admit({ token, isLocal, audiences, connection, hooks }: Credentials): Caller | Promise<Caller> {
    const nowMs = this.#options.nowMs()
    this.#refreshOnce(nowMs)
    if (token === undefined) return this.#withoutToken(isLocal && hooks === undefined)
    const checked = connection === undefined ? undefined : this.#checked.get(connection)
    if (checked?.token === token && this.#options.grants.isCurrent(checked.grant)) {
      // The same string object comes with the next request: comparing it is then a pointer
      // comparison.
      checked.token = token
      return this.#ofGrant(checked.grant, nowMs, hooks)
    }
    const grant = this.#options.grants.find(token)
    if (grant !== undefined) {
      if (connection !== undefined) this.#checked.set(connection, { token, grant })
      return this.#ofGrant(grant, nowMs, hooks)
    }
    const { tokens } = this.#options
    if (tokens !== undefined && hooks === undefined && !token.startsWith('sluice_'))
      return tokens.check(token, audiences()).then((caller) => this.#remember(caller))
    throw new AuthenticationError('the token is not known here, or was revoked', GRANT_HELP, {
      error: 'invalid_token',
    })
  }

  /** Requests that arrive together are checked together, with the grants read a moment ago. */
  #refreshOnce(nowMs: number): void {
    if (nowMs - this.#lookedMs < GRANTS_FRESH_MS && nowMs >= this.#lookedMs) return
    this.look()
    this.#lookedMs = nowMs
  }

  /** The agent of this name, and the key that its requests have to be signed with; undefined if no agent of ACS has a
   * valid grant of this name. Its caller has not been authenticated: that is the signature's to show. */
  findAgent(name: string): AcsAgent | undefined {
    const nowMs = this.#options.nowMs()
    this.#refreshOnce(nowMs)
    const grant = this.#options.grants.findAcs(name)
    if (grant?.acs === undefined || !isGrantValid(grant, nowMs)) return undefined
    return { key: grant.acs, caller: this.#callerOf(grant) }
  }

  /**
   * The caller for a principal that is not connected, for work it has started; undefined if it may
   * no longer call. Of tokens of authorisation servers, the most recent.
   */
  callerOf(principal: string): Caller | undefined {
    if (principal === LOCAL_USER.id) return this.#local.holds() ? this.#local : undefined
    const nowMs = this.#options.nowMs()
    const grant = this.#options.grants
      .list()
      .find((one) => one.name === principal && one.hooks === undefined && isGrantValid(one, nowMs))
    const caller = grant === undefined ? this.#seen.get(principal) : this.#ofGrant(grant, nowMs)
    return caller?.holds() === true ? caller : undefined
  }

  grantsChanged(): void {
    this.#changed.emit()
  }

  /**
   * Checks whether another process has changed the grants; throws AuthenticationError if that is
   * unknown.
   */
  look(): void {
    try {
      if (this.#options.grants.refresh()) this.grantsChanged()
    } catch (error) {
      const help = 'the gate cannot tell who may call; see its log'
      throw new AuthenticationError(describeToCaller(error), help, { isFault: true })
    }
  }

  #remember(caller: Caller): Caller {
    const { id } = caller.principal
    this.#seen.set(id, caller)
    return caller
  }

  get #isOpenToLocal(): boolean {
    const { grants, tokens, mayBeLocal } = this.#options
    return mayBeLocal && tokens === undefined && !grants.exist
  }

  #withoutToken(isLocal: boolean): Caller {
    if (isLocal && this.#isOpenToLocal) return this.#local
    const { mayBeLocal, tokens } = this.#options
    const why =
      isLocal && mayBeLocal && tokens === undefined
        ? 'there are grants, so every caller needs a token'
        : 'a token is needed here'
    throw new AuthenticationError(why, GRANT_HELP)
  }

  /** `hooks`: the server of the client whose hook it is. A grant for hooks opens them and nothing else. */
  #ofGrant(grant: Grant, nowMs: number, hooks?: string): Caller {
    const { grants } = this.#options
    if (hasGrantEnded(grant, nowMs)) throw createEndError(grant)
    if (grant.hooks !== hooks) throw createHooksError(grant, hooks)
    grants.used(grant, nowMs)
    const caller = this.#callerOf(grant)
    // Its sessions are those of the client's MCP calls, which the local user makes.
    return hooks !== undefined && this.#isOpenToLocal
      ? { ...caller, principal: LOCAL_USER }
      : caller
  }

  #callerOf(grant: Grant): Caller {
    const { grants } = this.#options
    const known = this.#callers.get(grant.id)
    if (known?.grant === grant) return known.caller
    const { name: id, groups, policy, slots, explain, canSayPrompt = false } = grant
    const { windowMs = this.#options.sessions.windowMs } = grant
    const caller: Caller = {
      principal: { id, kind: 'grant', groups, claims: {} },
      policy,
      sessions: { max: slots, windowMs },
      explain,
      canSayPrompt,
      holds: () => grants.holds(grant, this.#options.nowMs()),
    }
    this.#callers.set(grant.id, { grant, caller })
    return caller
  }
}

function createHooksError({ name, hooks }: Grant, asked: string | undefined): AuthenticationError {
  const why = hooks === undefined ? 'not for hooks' : `for the hooks of \`${hooks}\` alone`
  const help =
    asked === undefined
      ? GRANT_HELP
      : '`sluice init --hooks` makes a token for the hooks of a client'
  return new AuthenticationError(`the grant \`${name}\` is ${why}`, help, {
    error: 'insufficient_scope',
  })
}

function createEndError({ name, untilMs }: Grant): AuthenticationError {
  const end = new Date(Number(untilMs)).toISOString()
  return new AuthenticationError(`the grant \`${name}\` ended at ${end}`, GRANT_HELP, {
    error: 'invalid_token',
  })
}
