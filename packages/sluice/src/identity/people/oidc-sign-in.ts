// Sign-in of a person at an authorisation server (OpenID Connect, authorization code with PKCE):
// the URL that the browser opens, and the identity behind the returned code. The code is exchanged
// here, so that no token ever reaches a page. Called by the admin API.

import type { JsonObject, JsonValue } from '@sluice/policy/core/json'
import type { AccessTokenVerifier } from '../callers/access-token-verifier.ts'
import { AuthenticationError } from '../callers/caller.ts'
import type { ConsoleClient, Issuer } from '../callers/issuer.ts'
import { FAILED_FETCH_REST_MS, KEYS_KEPT_MS } from '../limits.ts'
import { discoverIssuer, endpointIn, textsIn } from '../oauth/discover-issuer.ts'
import { OutgoingHttp } from '../oauth/outgoing.ts'
import { InvalidGrantError, pickAuthMethod, requestTokens } from '../oauth/token-request.ts'

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

interface IssuerEndpoints {
  readonly authorizationEndpoint: string
  readonly tokenEndpoint: string
  readonly userinfoEndpoint: string | undefined
  readonly namesIssuer: boolean
  readonly authMethods: readonly string[]
}

export class OidcSignIn {
  readonly issuer: Issuer
  readonly #client: ConsoleClient
  readonly #tokens: Pick<AccessTokenVerifier, 'checkIdToken'>
  readonly #nowMs: () => number
  /**
   * The cached endpoints of the server, or why there are none: pages must not make the gate send
   * requests.
   */
  #place: { readonly endpoints: Promise<IssuerEndpoints>; untilMs: number } | undefined

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
  }

  /** The URL that the browser opens. Throws AuthenticationError if the server cannot be reached. */
  async address({
    redirect,
    nonce,
    state,
    challenge,
  }: SignInRequest & { readonly state: string; readonly challenge: string }): Promise<string> {
    const { clientId, scopes } = this.#client
    const address = new URL((await this.#find()).authorizationEndpoint)
    const parameters = {
      response_type: 'code',
      client_id: clientId,
      redirect_uri: redirect,
      scope: [...new Set(['openid', ...scopes])].join(' '),
      state,
      nonce,
      code_challenge: challenge,
      code_challenge_method: 'S256',
    }
    for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value)
    return address.href
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
    const { clientId, clientSecret } = this.#client
    const place = await this.#find()
    if (from === undefined ? place.namesIssuer : from !== issuer)
      throw new AuthenticationError(
        `the answer is not from \`${issuer}\` but from \`${(from ?? 'no issuer').slice(0, 200)}\``,
        'begin again',
        { error: 'invalid_token' },
      )
    const { tokenEndpoint, authMethods } = place
    const client = { clientId, ...pickAuthMethod(clientSecret, authMethods), tokenEndpoint }
    const outgoing = new OutgoingHttp({ trusted: [issuer] })
    const { idToken, accessToken } = await requestTokens(
      client,
      {
        grant_type: 'authorization_code',
        code,
        redirect_uri: redirect,
        code_verifier: verifier,
      },
      { nowMs: this.#nowMs(), outgoing },
    ).catch((error: Error) => {
      if (error instanceof InvalidGrantError)
        throw new AuthenticationError(error.message, 'begin again', { error: 'invalid_token' })
      throw unreachable(error)
    })
    if (idToken === undefined)
      throw unreachable(new Error(`\`${issuer}\` gave no ID token: it has to speak OpenID Connect`))
    const payload = await this.#tokens.checkIdToken(idToken, this.issuer, { clientId, nonce })
    const { sub: subject } = payload
    const own = payload[this.issuer.groups] as JsonValue | undefined
    const groups = own ?? (await this.#askUserinfo(place, { accessToken, subject, outgoing }))
    return { subject, groups }
  }

  /** Many servers put few claims into the ID token and the rest here. */
  async #askUserinfo(
    { userinfoEndpoint }: IssuerEndpoints,
    token: {
      readonly accessToken: string
      readonly subject: string
      readonly outgoing: OutgoingHttp
    },
  ): Promise<JsonValue | undefined> {
    if (userinfoEndpoint === undefined) return undefined
    const { accessToken, subject, outgoing } = token
    const headers = { authorization: `Bearer ${accessToken}` }
    const { status, value } = await outgoing
      .fetchJson(userinfoEndpoint, { headers })
      .catch((error: Error) => {
        throw unreachable(error)
      })
    // Userinfo of another subject is ignored.
    return status === 200 && value.sub === subject ? value[this.issuer.groups] : undefined
  }

  async #find(): Promise<IssuerEndpoints> {
    const nowMs = this.#nowMs()
    if (this.#place === undefined || nowMs >= this.#place.untilMs) {
      const { issuer } = this.issuer
      const outgoing = new OutgoingHttp({ trusted: [issuer] })
      const endpoints = discoverIssuer(issuer, outgoing).then((metadata) => this.#placeIn(metadata))
      const place = { endpoints, untilMs: nowMs + KEYS_KEPT_MS }
      this.#place = place
      endpoints.catch(() => {
        place.untilMs = this.#nowMs() + FAILED_FETCH_REST_MS
      })
    }
    return this.#place.endpoints.catch((error: Error) => {
      throw unreachable(error)
    })
  }

  #placeIn(metadata: JsonObject): IssuerEndpoints {
    const { issuer } = this.issuer
    const authorizationEndpoint = endpointIn(metadata, 'authorization_endpoint')
    const tokenEndpoint = endpointIn(metadata, 'token_endpoint')
    if (authorizationEndpoint === undefined || tokenEndpoint === undefined)
      throw new Error(`the authorisation server \`${issuer}\` names no endpoints to sign in at`)
    const hasPkce = textsIn(metadata, 'code_challenge_methods_supported').includes('S256')
    // Without either, anyone who sees the code could use it.
    if (!hasPkce && this.#client.clientSecret === undefined)
      throw new Error(`\`${issuer}\` does not declare support for PKCE (S256): set a client_secret`)
    return {
      authorizationEndpoint,
      tokenEndpoint,
      userinfoEndpoint: endpointIn(metadata, 'userinfo_endpoint'),
      namesIssuer: metadata.authorization_response_iss_parameter_supported === true,
      authMethods: textsIn(metadata, 'token_endpoint_auth_methods_supported'),
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
