// One login of a user with a browser: registers the client if necessary, builds the URL to open
// (PKCE S256, state, resource), and validates the parameters of the loopback redirect before the
// code is exchanged. Called by `sluice login`.

import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { authorizationUrl, exchangeCode, mixUp } from './authorization-code.ts'
import { type ClientConfig, type OAuthClient, pickAuthMethod } from './client-authentication.ts'
import type { LoginEndpoints } from './discover-login.ts'
import { asIdentity, type Login } from './login.ts'

export interface LoginRequest {
  /** The address of the MCP server, or of the issuer. */
  readonly url: string
  readonly redirect: string
  /** From the configuration; otherwise one is registered. */
  readonly client?: ClientConfig | undefined
  readonly scopes: readonly string[]
}

export class LoginFlow {
  /** The URL that the user opens. */
  readonly address: string
  /** In the ID token of this login, if there is one. */
  readonly nonce = randomBytes(32).toString('base64url')
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
    this.address = authorizationUrl(place, {
      client_id: client.clientId,
      redirect_uri: request.redirect,
      state: this.#state,
      code_challenge: hash('sha256', this.#verifier, 'base64url'),
      scope: scopes.length > 0 ? scopes.join(' ') : undefined,
      resource: place.resource || undefined,
      nonce: scopes.includes('openid') ? this.nonce : undefined,
      // Offline access requires the user's consent.
      prompt: place.canRefresh ? 'consent' : undefined,
    })
  }

  static async begin(place: LoginEndpoints, request: LoginRequest): Promise<LoginFlow> {
    const { client } = request
    if (client === undefined)
      return new LoginFlow(place, request, await register(place, request.redirect))
    const { issuer, tokenEndpoint, authMethods } = place
    const clientAuth = pickAuthMethod(client, authMethods)
    return new LoginFlow(place, request, { ...client, clientAuth, issuer, tokenEndpoint })
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
    const { issuer, resource, tokenEndpoint, outgoing } = this.#place
    const wrong = mixUp(this.#place, parameters.get('iss') ?? undefined)
    if (wrong !== undefined) throw new Error(wrong)
    const error = parameters.get('error')
    if (error !== null)
      throw new Error(`${error}: ${parameters.get('error_description') ?? 'no reason given'}`)
    const code = parameters.get('code')
    if (code === null) throw new Error('the answer has no code')
    const { redirect, url, client } = this.#request
    const answer = { code, redirect_uri: redirect, code_verifier: this.#verifier }
    const how = { nowMs, outgoing, resource }
    const { idToken, ...tokens } = await exchangeCode(this.#client, answer, how)
    const identity = resource === '' && idToken !== undefined ? asIdentity({ idToken }) : {}
    const reach = await outgoing.zone
    const { clientId, clientAuth, clientSecret } = this.#client
    // The secret of a configured client stays in the configuration. A login at a server stores nothing
    // about the person.
    const isOwn = client === undefined && typeof clientSecret === 'string'
    return {
      clientId,
      clientAuth,
      ...(isOwn ? { clientSecret } : {}),
      url,
      resource,
      issuer,
      reach,
      tokenEndpoint,
      ...tokens,
      ...identity,
    }
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
  if (!isSecret) return { clientId, clientAuth: 'none', issuer, tokenEndpoint }
  const clientAuth = method === 'client_secret_post' ? method : 'client_secret_basic'
  return { clientId, clientSecret: secret, clientAuth, issuer, tokenEndpoint }
}
