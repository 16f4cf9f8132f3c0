// Requests to the token endpoint of an authorisation server, for any grant, and the response as a login.
// Used by the login flow, by token refresh and by the grants without a browser.

import type { JsonObject } from '@sluice/policy/values/json'
import { TOKEN_LENGTH_MAX } from '../limits.ts'
import { authenticateClient, type IssuerClient, type OAuthClient } from './client-authentication.ts'
import { asIdentity, type Login } from './login.ts'
import { OutgoingHttp } from './outgoing.ts'

/** The authorisation server refused. `error` is its code. */
export class TokenRefusedError extends Error {
  readonly error: string
  /** Its fault, or too many requests: it may give a token later. */
  readonly isTemporary: boolean

  constructor(message: string, error: string, status = 400) {
    super(message)
    this.error = error
    this.isTemporary = status >= 500 || status === 429 || error === 'temporarily_unavailable'
  }
}

/** `invalid_grant`: only a new login helps. Any other refusal may pass, or is of the client. */
export class InvalidGrantError extends TokenRefusedError {}

export type TokenResponse = Pick<
  Login,
  'accessToken' | 'refreshToken' | 'expiresMs' | 'scope' | 'idToken'
> & {
  /** RFC 8693: what kind of token it is. */
  readonly issuedType?: string
}

export interface TokenRequestOptions {
  readonly nowMs: number
  readonly outgoing: OutgoingHttp
  /** The type of the token that is expected; an assertion is no bearer token. */
  readonly type?: 'bearer' | 'n_a' | undefined
}

/** Parameters that are undefined are left out. */
export async function requestTokens(
  client: OAuthClient,
  parameters: Readonly<Record<string, string | undefined>>,
  { nowMs, outgoing, type = 'bearer' }: TokenRequestOptions,
): Promise<TokenResponse> {
  const body = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters))
    if (value !== undefined) body.set(name, value)
  const proof = await authenticateClient(client, body, nowMs)
  const { status, value } = await outgoing.fetchJson(client.tokenEndpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...proof },
    body: body.toString(),
  })
  if (status === 200) return readTokens(value, nowMs, type)
  const why = [value.error, value.error_description].filter((one) => typeof one === 'string')
  const message = `the authorisation server answered ${status}: ${why.join(', ').slice(0, 300)}`
  const error = typeof value.error === 'string' ? value.error.slice(0, 60) : `HTTP ${status}`
  if (status < 500 && error === 'invalid_grant') throw new InvalidGrantError(message, error, status)
  throw new TokenRefusedError(message, error, status)
}

/**
 * The login with newer tokens; if the server returns no new refresh token, the old one stays valid. The secret or
 * key of the configuration counts, and is not stored: for the same client of the same issuer, so that nobody else
 * gets it.
 */
export async function refreshLogin(
  login: Login,
  { client: config, issuer }: IssuerClient,
  nowMs: number,
): Promise<Login> {
  const isOwn = config?.clientId === login.clientId && issuer === login.issuer
  const client = isOwn ? { ...login, ...config } : login
  const { refreshToken, resource } = login
  if (refreshToken === undefined)
    throw new InvalidGrantError('the login cannot be renewed', 'no refresh token')
  const parameters = {
    grant_type: 'refresh_token',
    refresh_token: refreshToken,
    resource: resource || undefined,
  }
  const outgoing = new OutgoingHttp({ trusted: [login.url], zone: login.reach })
  const { idToken, ...tokens } = await requestTokens(client, parameters, { nowMs, outgoing })
  if (login.idToken !== undefined)
    return { ...login, ...tokens, ...asIdentity({ idToken: idToken ?? login.idToken }) }
  // A login at a server stores nothing about the person.
  const { expiresMs: _, ...rest } = login
  return { ...rest, ...tokens }
}

function readTokens(value: JsonObject, nowMs: number, wanted: string): TokenResponse {
  const {
    access_token: token,
    token_type: type,
    refresh_token: refresh,
    scope,
    id_token: id,
    issued_token_type: issued,
  } = value
  if (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token) || token.length > TOKEN_LENGTH_MAX)
    throw new Error('the authorisation server answered without a token that a header can carry')
  if (typeof type !== 'string' || type.toLowerCase() !== wanted)
    throw new Error(`the authorisation server gave a token of the type \`${String(type)}\``)
  const life = Number(value.expires_in)
  return {
    accessToken: token,
    ...(typeof refresh === 'string' ? { refreshToken: refresh } : {}),
    ...(Number.isFinite(life) && life > 0 ? { expiresMs: nowMs + life * 1_000 } : {}),
    ...(typeof scope === 'string' ? { scope } : {}),
    ...(typeof id === 'string' && id.length <= TOKEN_LENGTH_MAX ? { idToken: id } : {}),
    ...(typeof issued === 'string' ? { issuedType: issued } : {}),
  }
}
