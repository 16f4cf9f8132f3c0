// Sign-in of a person at an authorisation server (OpenID Connect, authorization code with PKCE):
// the URL that the browser opens, and the identity behind the returned code. The code is exchanged
// here, so that no token ever reaches a page. Called by the admin API.

import type { JsonValue } from '@sluice/policy/core/json'
import { type AccessTokenVerifier, subjectOf } from '../callers/access-token-verifier.ts'
import { AuthenticationError } from '../callers/caller.ts'
import type { ConsoleClient, Issuer } from '../callers/issuer.ts'
import { authorizationUrl, exchangeCode, hasPkce } from '../oauth/authorization-code.ts'
import { clientAt } from '../oauth/client-authentication.ts'
import { findEndpoint } from '../oauth/discover-issuer.ts'
import { IssuerMetadata } from '../oauth/issuer-metadata.ts'
import { OutgoingHttp } from '../oauth/outgoing.ts'
import { InvalidGrantError } from '../oauth/token-request.ts'

export interface SignInRequest {
  /** The redirect URI; unique to this issuer (mix-up). */
  readonly redirect: string
  readonly nonce: string
}

export interface SignInCallback extends SignInRequest {
  readonly code: string
  readonly verifier: string
  /** `iss` of the response (RFC 9207). */
  readonly from?: string | undefined
}

export interface SignedInSubject {
  readonly subject: string
  /** The claim with the groups; undefined if neither the ID token nor userinfo has it. */
  readonly groups: JsonValue | undefined
}

export class OidcSignIn {
  readonly issuer: Issuer
  readonly #client: ConsoleClient
  readonly #tokens: Pick<AccessTokenVerifier, 'checkIdToken'>
  readonly #nowMs: () => number
  readonly #metadata: IssuerMetadata

  constructor(
    issuer: Issuer,
    client: ConsoleClient,
    tokens: Pick<AccessTokenVerifier, 'checkIdToken'>,
    nowMs: () => number,
  ) {
    this.issuer = issuer
    this.#client = client
    this.#tokens = tokens
    this.#nowMs = nowMs
    this.#metadata = new IssuerMetadata(nowMs)
  }

  /** The URL that the browser opens. Throws AuthenticationError if the server cannot be reached. */
  address({
    redirect,
    nonce,
    state,
    challenge,
  }: SignInRequest & { readonly state: string; readonly challenge: string }): Promise<string> {
    const { clientId, scopes } = this.#client
    return authenticate(async () =>
      authorizationUrl((await this.#find()).metadata, {
        client_id: clientId,
        redirect_uri: redirect,
        scope: [...new Set(['openid', ...scopes])].join(' '),
        state,
        nonce,
        code_challenge: challenge,
      }),
    )
  }

  /**
   * Throws AuthenticationError: another server answered (mix-up), the code is invalid, the ID token
   * is not ours.
   */
  finish({ redirect, nonce, code, verifier, from }: SignInCallback): Promise<SignedInSubject> {
    return authenticate(async () => {
      const client = await this.#find()
      const { clientId, issuer, userinfo } = client
      const outgoing = new OutgoingHttp({ trusted: [issuer] })
      const { idToken, accessToken } = await exchangeCode(
        client,
        { code, iss: from },
        { redirect_uri: redirect, code_verifier: verifier },
        { nowMs: this.#nowMs(), outgoing },
      )
      if (idToken === undefined)
        throw new Error(`\`${issuer}\` gave no ID token: it has to speak OpenID Connect`)
      const payload = await this.#tokens.checkIdToken(idToken, this.issuer, { clientId, nonce })
      const own = payload[this.issuer.groups] as JsonValue | undefined
      const { sub } = payload
      const groups = own ?? (await this.#askUserinfo(userinfo, { accessToken, sub, outgoing }))
      return { subject: subjectOf(payload, this.issuer), groups }
    })
  }

  /** Many servers put few claims into the ID token and the rest here. */
  async #askUserinfo(
    endpoint: string | undefined,
    token: {
      readonly accessToken: string
      readonly sub: string
      readonly outgoing: OutgoingHttp
    },
  ): Promise<JsonValue | undefined> {
    if (endpoint === undefined) return undefined
    const { accessToken, sub, outgoing } = token
    const headers = { authorization: `Bearer ${accessToken}` }
    const { status, value } = await outgoing.fetchJson(endpoint, { headers })
    // Userinfo of another subject is ignored.
    return status === 200 && value.sub === sub ? value[this.issuer.groups] : undefined
  }

  /** Throws unless the code is of no use to anyone who sees it. */
  async #find() {
    const { issuer } = this.issuer
    const metadata = await this.#metadata.of(issuer)
    if (!hasPkce(metadata) && this.#client.clientSecret === undefined)
      throw new Error(`\`${issuer}\` does not declare support for PKCE (S256): set a client_secret`)
    const userinfo = findEndpoint(metadata, 'userinfo_endpoint')
    return { ...clientAt(metadata, this.#client), userinfo }
  }
}

async function authenticate<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof AuthenticationError) throw error
    const { message } = error as Error
    if (error instanceof InvalidGrantError)
      throw new AuthenticationError(message, 'begin again', { error: 'invalid_token' })
    const help = 'try again; if it persists, ask the operator of that server'
    throw new AuthenticationError(message, help, { isFault: true })
  }
}
