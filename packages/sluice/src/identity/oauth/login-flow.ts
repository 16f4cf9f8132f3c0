// One login of a user with a browser: registers the client if necessary, builds the URL to open
// (PKCE S256, state, resource), and validates the parameters of the loopback redirect before the
// code is exchanged. Called by `sluice login`.

import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { LoginEndpoints } from './discover-login.ts'
import type { Login } from './login.ts'
import { type OAuthClient, pickAuthMethod, requestTokens } from './token-request.ts'

export interface LoginRequest {
  /** The address of the MCP server. */
  readonly url: string
  readonly redirect: string
  /** From the configuration; otherwise one is registered. */
  readonly clientId?: string | undefined
  readonly clientSecret?: string | undefined
  readonly scopes: readonly string[]
}

export class LoginFlow {
  /** The URL that the user opens. */
  readonly address: string
  readonly #place: LoginEndpoints
  readonly #request: LoginRequest
  readonly #client: OAuthClient
  readonly #state = randomBytes(32).toString('base64url')
  readonly #verifier = randomBytes(32).toString('base64url')

  private constructor(place: LoginEndpoints, request: LoginRequest, client: OAuthClient) {
    this.#place = place
    this.#request = request
    this.#client = client
    const wanted = request.scopes.length > 0 ? request.scopes : place.scopes
    const scopes = place.canRefresh ? [...new Set([...wanted, 'offline_access'])] : wanted
    const address = new URL(place.authorizationEndpoint)
    const parameters = {
      response_type: 'code',
      client_id: client.clientId,
      redirect_uri: request.redirect,
      state: this.#state,
      code_challenge: hash('sha256', this.#verifier, 'base64url'),
      code_challenge_method: 'S256',
      resource: place.resource,
      ...(scopes.length > 0 ? { scope: scopes.join(' ') } : {}),
      // Offline access requires the user's consent.
      ...(place.canRefresh ? { prompt: 'consent' } : {}),
    }
    for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value)
    this.address = address.href
  }

  static async begin(place: LoginEndpoints, request: LoginRequest): Promise<LoginFlow> {
    const { clientId, clientSecret } = request
    const client =
      clientId === undefined
        ? await register(place, request.redirect)
        : {
            clientId,
            ...pickAuthMethod(clientSecret, place.authMethods),
            tokenEndpoint: place.tokenEndpoint,
          }
    return new LoginFlow(place, request, client)
  }

  /** Whether this redirect belongs to this login: anything else on the port is noise. */
  isOurs(parameters: URLSearchParams): boolean {
    const state = Buffer.from(parameters.get('state') ?? '')
    const own = Buffer.from(this.#state)
    return state.length === own.length && timingSafeEqual(state, own)
  }

  /** Throws if the server refused, or another server answered (mix-up). */
  async finish(parameters: URLSearchParams, nowMs: number): Promise<Login> {
    if (!this.isOurs(parameters)) throw new Error('the answer belongs to another login')
    const { issuer, namesIssuer, resource, tokenEndpoint, outgoing } = this.#place
    const from = parameters.get('iss')
    if (from === null ? namesIssuer : from !== issuer)
      throw new Error(`the answer is not from \`${issuer}\` but from \`${from ?? 'no issuer'}\``)
    const error = parameters.get('error')
    if (error !== null)
      throw new Error(`${error}: ${parameters.get('error_description') ?? 'no reason given'}`)
    const code = parameters.get('code')
    if (code === null) throw new Error('the answer has no code')
    const { redirect, url } = this.#request
    // A login stores what it calls with, and nothing about the person.
    const { idToken: _, ...tokens } = await requestTokens(
      this.#client,
      {
        grant_type: 'authorization_code',
        code,
        redirect_uri: redirect,
        code_verifier: this.#verifier,
        resource,
      },
      { nowMs, outgoing },
    )
    const reach = await outgoing.zone
    const target = { url, resource, issuer, reach, tokenEndpoint }
    return { ...this.#client, ...target, ...tokens }
  }
}

/** RFC 7591: a public client, for this redirect only. */
async function register(place: LoginEndpoints, redirect: string): Promise<OAuthClient> {
  const { issuer, registrationEndpoint, tokenEndpoint, outgoing } = place
  if (registrationEndpoint === undefined)
    throw new Error(`\`${issuer}\` registers no clients by itself: name one (\`client_id\`)`)
  const request = {
    client_name: 'Sluice',
    redirect_uris: [redirect],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    application_type: 'native',
  }
  const { status, value, text } = await outgoing.fetchJson(registrationEndpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(request),
  })
  const { client_id: clientId, client_secret: secret, token_endpoint_auth_method: method } = value
  if (status < 200 || status > 299 || typeof clientId !== 'string')
    throw new Error(`\`${issuer}\` registered no client (${status}): ${text.slice(0, 300)}`)
  // The server's choice is authoritative.
  const isSecret = typeof secret === 'string' && method !== 'none'
  if (!isSecret) return { clientId, clientAuth: 'none', tokenEndpoint }
  const clientAuth = method === 'client_secret_post' ? method : 'client_secret_basic'
  return { clientId, clientSecret: secret, clientAuth, tokenEndpoint }
}
