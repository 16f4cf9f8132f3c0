// Sign-in of a person at an authorisation server (OpenID Connect, authorization code with PKCE):
// the URL that the browser opens, and the identity behind the returned code. The code is exchanged
// here, so that no token ever reaches a page. Called by the admin API.

import type { JsonValue } from '@sluice/policy/core/json'
import { type AccessTokenVerifier, subjectOf } from '../callers/access-token-verifier.ts'
import { AuthenticationError } from '../callers/caller.ts'
import type { ConsoleClient, Issuer } from '../callers/issuer.ts'
import {
  authorizationUrl,
  type CodeEndpoints,
  exchangeCode,
  mixUp,
  readCodeEndpoints,
} from '../oauth/authorization-code.ts'
import { pickAuthMethod } from '../oauth/client-authentication.ts'
import { endpointIn } from '../oauth/discover-issuer.ts'
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

interface IssuerEndpoints extends CodeEndpoints {
  readonly userinfoEndpoint: string | undefined
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
  async address({
    redirect,
    nonce,
    state,
    challenge,
  }: SignInRequest & { readonly state: string; readonly challenge: string }): Promise<string> {
    const { clientId, scopes } = this.#client
    return authorizationUrl(await this.#find(), {
      client_id: clientId,
      redirect_uri: redirect,
      scope: [...new Set(['openid', ...scopes])].join(' '),
      state,
      nonce,
      code_challenge: challenge,
    })
  }

  /**
   * Throws AuthenticationError: another server answered (mix-up), the code is invalid, the ID token
   * is not ours.
   */
  async finish({
    redirect,
    nonce,
    code,
    verifier,
    from,
  }: SignInCallback): Promise<SignedInSubject> {
    const { issuer } = this.issuer
    const { clientId } = this.#client
    const place = await this.#find()
    const wrong = mixUp(place, from)
    if (wrong !== undefined)
      throw new AuthenticationError(wrong, 'begin again', { error: 'invalid_token' })
    const { tokenEndpoint } = place
    const clientAuth = pickAuthMethod(this.#client, place.authMethods)
    const outgoing = new OutgoingHttp({ trusted: [issuer] })
    const { idToken, accessToken } = await exchangeCode(
      { ...this.#client, clientAuth, issuer, tokenEndpoint },
      { code, redirect_uri: redirect, code_verifier: verifier },
      { nowMs: this.#nowMs(), outgoing },
    ).catch((error: Error) => {
      if (error instanceof InvalidGrantError)
        throw new AuthenticationError(error.message, 'begin again', { error: 'invalid_token' })
      throw unreachable(error)
    })
    if (idToken === undefined)
      throw unreachable(new Error(`\`${issuer}\` gave no ID token: it has to speak OpenID Connect`))
    const payload = await this.#tokens.checkIdToken(idToken, this.issuer, { clientId, nonce })
    const own = payload[this.issuer.groups] as JsonValue | undefined
    const { sub } = payload
    const groups = own ?? (await this.#askUserinfo(place, { accessToken, sub, outgoing }))
    return { subject: subjectOf(payload, this.issuer), groups }
  }

  /** Many servers put few claims into the ID token and the rest here. */
  async #askUserinfo(
    { userinfoEndpoint }: IssuerEndpoints,
    token: {
      readonly accessToken: string
      readonly sub: string
      readonly outgoing: OutgoingHttp
    },
  ): Promise<JsonValue | undefined> {
    if (userinfoEndpoint === undefined) return undefined
    const { accessToken, sub, outgoing } = token
    const headers = { authorization: `Bearer ${accessToken}` }
    const { status, value } = await outgoing
      .fetchJson(userinfoEndpoint, { headers })
      .catch((error: Error) => {
        throw unreachable(error)
      })
    // Userinfo of another subject is ignored.
    return status === 200 && value.sub === sub ? value[this.issuer.groups] : undefined
  }

  async #find(): Promise<IssuerEndpoints> {
    const { issuer } = this.issuer
    try {
      const metadata = await this.#metadata.of(issuer)
      const endpoints = readCodeEndpoints(issuer, metadata)
      // Without either, anyone who sees the code could use it.
      if (!endpoints.hasPkce && this.#client.clientSecret === undefined)
        throw new Error(
          `\`${issuer}\` does not declare support for PKCE (S256): set a client_secret`,
        )
      return { ...endpoints, userinfoEndpoint: endpointIn(metadata, 'userinfo_endpoint') }
    } catch (error) {
      throw unreachable(error as Error)
    }
  }
}

function unreachable({ message }: Error): AuthenticationError {
  return new AuthenticationError(
    message,
    'try again; if it persists, ask the operator of that server',
    { isFault: true },
  )
}
