// One login of a user with a browser: registers the client if necessary, builds the URL to open
// (PKCE S256, state, resource), and validates the parameters of the loopback redirect before the
// code is exchanged. Called by `sluice login`.

import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { authorizationUrl, exchangeCode, hasPkce } from './authorization-code.ts'
import { type ClientConfig, clientAt, type LocatedClient } from './client-authentication.ts'
import { describeGate } from './client-document.ts'
import { findEndpoint, textsIn } from './discover-issuer.ts'
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
  readonly #client: LocatedClient
  readonly #state = randomBytes(32).toString('base64url')
  readonly #verifier = randomBytes(32).toString('base64url')

  private constructor(place: LoginEndpoints, request: LoginRequest, client: LocatedClient) {
    this.#place = place
    this.#request = request
    this.#client = client
    const canRefresh = textsIn(place.metadata, 'scopes_supported').includes('offline_access')
    const wanted = request.scopes.length > 0 ? request.scopes : place.scopes
    const scopes = canRefresh ? [...new Set([...wanted, 'offline_access'])] : wanted
    this.address = authorizationUrl(place.metadata, {
      client_id: client.clientId,
      redirect_uri: request.redirect,
      state: this.#state,
      code_challenge: hash('sha256', this.#verifier, 'base64url'),
      scope: scopes.join(' ') || undefined,
      resource: place.resource || undefined,
      nonce: scopes.includes('openid') ? this.nonce : undefined,
      // Offline access requires the user's consent.
      prompt: canRefresh ? 'consent' : undefined,
    })
  }

  static async begin(place: LoginEndpoints, request: LoginRequest): Promise<LoginFlow> {
    const { metadata } = place
    if (!hasPkce(metadata))
      throw new Error(
        `the authorisation server \`${metadata.issuer}\` does not declare support for PKCE (S256)`,
      )
    const { client } = request
    const known = client && clientAt(metadata, client)
    return new LoginFlow(place, request, known ?? (await register(place, request.redirect)))
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
    const { resource, outgoing } = this.#place
    const { redirect, url, client } = this.#request
    const request = { redirect_uri: redirect, code_verifier: this.#verifier }
    const { idToken, ...tokens } = await exchangeCode(
      this.#client,
      Object.fromEntries(parameters),
      resource === '' ? request : { ...request, resource },
      { nowMs, outgoing },
    )
    // A login at a server stores nothing about the person.
    const identity = resource === '' && idToken !== undefined ? asIdentity({ idToken }) : {}
    const { clientId, clientAuth, clientSecret, issuer, tokenEndpoint } = this.#client
    // The secret of a configured client stays in the configuration.
    const isOwn = client === undefined && typeof clientSecret === 'string'
    const known = { clientId, clientAuth, ...(isOwn ? { clientSecret } : {}) }
    const reach = await outgoing.zone
    return { ...known, url, resource, issuer, reach, tokenEndpoint, ...tokens, ...identity }
  }
}

/** RFC 7591: a public client, for this redirect only. */
async function register({ metadata, outgoing }: LoginEndpoints, redirect: string) {
  const { issuer } = metadata
  const endpoint = findEndpoint(metadata, 'registration_endpoint')
  if (endpoint === undefined)
    throw new Error(`\`${issuer}\` registers no clients by itself: name one (\`client_id\`)`)
  const { status, value, text } = await outgoing.fetchJson(endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(describeGate(redirect)),
  })
  const { client_id: clientId, client_secret: secret, token_endpoint_auth_method: method } = value
  if (status < 200 || status > 299 || typeof clientId !== 'string')
    throw new Error(`\`${issuer}\` registered no client (${status}): ${text.slice(0, 300)}`)
  // The server's choice is authoritative.
  const isSecret = typeof secret === 'string' && method !== 'none'
  const client = clientAt(metadata, isSecret ? { clientId, clientSecret: secret } : { clientId })
  const isPost = method === 'client_secret_post'
  const way = isPost ? ('client_secret_post' as const) : ('client_secret_basic' as const)
  return isSecret ? { ...client, clientAuth: way } : client
}
