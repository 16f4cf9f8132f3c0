// Signing in at an authorisation server from the page (OpenID Connect, authorization code with PKCE): where the
// browser goes, and who it was that came back. The page holds a secret in its tab and brings it along with the
// answer; the gate exchanges the code, so the page never has a token of that server. Called by the endpoints of
// sign-in.

import {
  type AccessTokenVerifier,
  subjectOf,
} from '@sluice/access/identity/callers/access-token-verifier'
import { AuthenticationError } from '@sluice/access/identity/callers/caller'
import type { ConsoleClient, Issuer } from '@sluice/access/identity/callers/issuer'
import type { InstallationKey } from '@sluice/access/identity/keys/installation-key'
import {
  authorizationUrl,
  exchangeCode,
  hasPkce,
} from '@sluice/access/identity/oauth/authorization-code'
import { clientAt } from '@sluice/access/identity/oauth/client-authentication'
import { findEndpoint } from '@sluice/access/identity/oauth/discover-issuer'
import { IssuerMetadata } from '@sluice/access/identity/oauth/issuer-metadata'
import { OutgoingHttp } from '@sluice/access/identity/oauth/outgoing'
import { InvalidGrantError } from '@sluice/access/identity/oauth/token-request'
import { SignInStates } from '@sluice/access/identity/people/sign-in-states'
import type { JsonValue } from '@sluice/policy/values/json'
import { ApiError } from '../http/errors.ts'
import { EXCHANGES_MAX, GUEST_MS } from '../http/limits.ts'
import { type ExternalPerson, personOf, refuse } from './external-people.ts'

export interface ExternalSignInParts {
  /** Those that give roles. */
  readonly issuers: readonly Issuer[]
  /** Loaded with the first who needs it. */
  readonly tokens: () => Promise<AccessTokenVerifier>
  readonly key: InstallationKey
  readonly nowMs: () => number
}

/** What an issuer sent the browser back with; `verifier` is the tab's secret, of which the issuer has the hash. */
export interface IssuerAnswer {
  readonly code: string
  readonly state: string
  readonly iss?: string
  readonly verifier: string
}

/** How a browser begins to sign in at an authorisation server. */
export interface ExternalSignInStart {
  /** The address that the browser opens. */
  readonly address: string
  /** The state that must come back with the answer, to `<base>/sign-in/<name>`. */
  readonly state: string
}

type ConsoleIssuer = Issuer & { readonly console: ConsoleClient }

export class ExternalSignIn {
  readonly #parts: ExternalSignInParts
  readonly #states: SignInStates
  readonly #metadata: IssuerMetadata
  #exchanging = 0

  constructor(parts: ExternalSignInParts) {
    this.#parts = parts
    this.#states = new SignInStates(parts.key, parts.nowMs)
    this.#metadata = new IssuerMetadata(parts.nowMs)
  }

  /** `origin` is that of the page. Throws ApiError. */
  async begin(name: string, challenge: string, origin: string): Promise<ExternalSignInStart> {
    const issuer = this.#issuerOf(name)
    const state = this.#states.make({ issuer: name, origin, challenge })
    const parameters = {
      redirect_uri: redirectOf(name, origin),
      scope: [...new Set(['openid', ...issuer.console.scopes])].join(' '),
      state,
      nonce: this.#states.getNonce(state),
      code_challenge: challenge,
    }
    const address = await this.#clientOf(issuer)
      .then(({ clientId, metadata }) =>
        authorizationUrl(metadata, { client_id: clientId, ...parameters }),
      )
      .catch(explain)
    return { address, state }
  }

  /** Throws ApiError: another server answered (mix-up), the code is invalid, the ID token is not ours. */
  async finish(answer: IssuerAnswer, origin: string): Promise<ExternalPerson> {
    const begun = this.#states.take(answer.state, answer.verifier, origin)
    if (typeof begun === 'string')
      throw new ApiError('API_SIGN_IN', begun, 'begin again on this page')
    const issuer = this.#issuerOf(begun.issuer)
    // Requests with made-up codes must not make the gate flood that server.
    if (this.#exchanging >= EXCHANGES_MAX)
      throw new ApiError('API_LIMIT', 'too many sign in just now', 'try again')
    this.#exchanging++
    try {
      const { subject, groups } = await this.#identify(issuer, answer, origin).catch(explain)
      const person = personOf(issuer, subject, groups)
      return { person, untilMs: this.#parts.nowMs() + GUEST_MS }
    } finally {
      this.#exchanging--
    }
  }

  async #identify(
    issuer: ConsoleIssuer,
    { state, code, iss, verifier }: IssuerAnswer,
    origin: string,
  ): Promise<{ readonly subject: string; readonly groups: JsonValue | undefined }> {
    const { tokens, nowMs } = this.#parts
    const client = await this.#clientOf(issuer)
    const outgoing = new OutgoingHttp({ trusted: [issuer.issuer] })
    const { idToken, accessToken } = await exchangeCode(
      client,
      { code, iss },
      { redirect_uri: redirectOf(issuer.name, origin), code_verifier: verifier },
      { nowMs: nowMs(), outgoing },
    )
    if (idToken === undefined)
      throw new Error(`\`${issuer.issuer}\` gave no ID token: it has to speak OpenID Connect`)
    const expected = { clientId: client.clientId, nonce: this.#states.getNonce(state) }
    const payload = await (await tokens()).checkIdToken(idToken, issuer, expected)
    const subject = subjectOf(payload, issuer)
    const own = payload[issuer.groups] as JsonValue | undefined
    if (own !== undefined || client.userinfo === undefined) return { subject, groups: own }
    // Many servers put few claims into the ID token and the rest here.
    const headers = { authorization: `Bearer ${accessToken}` }
    const { status, value } = await outgoing.fetchJson(client.userinfo, { headers })
    // Userinfo of another subject is ignored.
    const isOf = status === 200 && value.sub === payload.sub
    return { subject, groups: isOf ? value[issuer.groups] : undefined }
  }

  #issuerOf(name: string): ConsoleIssuer {
    const issuer = this.#parts.issuers.find((one) => one.name === name)
    if (issuer?.console !== undefined) return issuer as ConsoleIssuer
    throw new ApiError(
      'API_NOT_FOUND',
      `nobody signs in at \`${name.slice(0, 64)}\` from this page`,
      'sluice.yaml says where: `auth.issuers.NAME.console`',
    )
  }

  /** Throws unless the code is of no use to anyone who sees it. */
  async #clientOf({ issuer, console: config }: ConsoleIssuer) {
    const metadata = await this.#metadata.of(issuer)
    if (!hasPkce(metadata) && config.clientSecret === undefined)
      throw new Error(`\`${issuer}\` does not declare support for PKCE (S256): set a client_secret`)
    const userinfo = findEndpoint(metadata, 'userinfo_endpoint')
    return { ...clientAt(metadata, config), userinfo }
  }
}

/** One for each issuer: an answer that comes to another's is not taken for it (mix-up). */
function redirectOf(name: string, origin: string): string {
  return `${origin}/sign-in/${name}`
}

function explain(error: Error): never {
  const { message } = error
  if (error instanceof AuthenticationError) return refuse(error)
  if (error instanceof InvalidGrantError) throw new ApiError('API_SIGN_IN', message, 'begin again')
  const help = 'try again; if it persists, ask the operator of that server'
  throw new ApiError('API_ISSUER', message, help)
}
