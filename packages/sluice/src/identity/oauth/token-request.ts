// Requests to the token endpoint of an authorisation server, for a code or for a refresh token, and
// the response as a login. Used by the login flow and by token refresh.

import type { JsonObject } from '@sluice/policy/core/json'
import { TOKEN_LENGTH_MAX } from '../limits.ts'
import type { Login } from './login.ts'
import { OutgoingHttp } from './outgoing.ts'

/** `invalid_grant`: only a new login helps. Any other refusal may pass, or is of the client. */
export class InvalidGrantError extends Error {}

export type OAuthClient = Pick<Login, 'clientId' | 'clientSecret' | 'clientAuth' | 'tokenEndpoint'>

type TokenResponse = Pick<Login, 'accessToken' | 'refreshToken' | 'expiresMs' | 'scope'> & {
  /** Present if a person signs in (OpenID Connect). */
  readonly idToken?: string
}

/** How a client sends its secret, by what the server supports. */
export function pickAuthMethod(
  clientSecret: string | undefined,
  methods: readonly string[],
): Pick<OAuthClient, 'clientAuth' | 'clientSecret'> {
  if (clientSecret === undefined) return { clientAuth: 'none' }
  const isPost = !methods.includes('client_secret_basic') && methods.length > 0
  return { clientSecret, clientAuth: isPost ? 'client_secret_post' : 'client_secret_basic' }
}

export async function requestTokens(
  client: OAuthClient,
  parameters: Readonly<Record<string, string>>,
  { nowMs, outgoing }: { readonly nowMs: number; readonly outgoing: OutgoingHttp },
): Promise<TokenResponse> {
  const { clientId, clientSecret = '', clientAuth, tokenEndpoint } = client
  const body = new URLSearchParams(parameters)
  const headers: Record<string, string> = { 'content-type': 'application/x-www-form-urlencoded' }
  if (clientAuth === 'client_secret_basic') {
    const pair = [clientId, clientSecret].map(encodeURIComponent).join(':')
    headers.authorization = `Basic ${Buffer.from(pair).toString('base64')}`
  } else body.set('client_id', clientId)
  if (clientAuth === 'client_secret_post') body.set('client_secret', clientSecret)
  const { status, value } = await outgoing.fetchJson(tokenEndpoint, {
    method: 'POST',
    headers,
    body: body.toString(),
  })
  if (status === 200) return readTokens(value, nowMs)
  const why = [value.error, value.error_description].filter((one) => typeof one === 'string')
  const message = `the authorisation server answered ${status}: ${why.join(', ').slice(0, 300)}`
  const isFinal = status < 500 && value.error === 'invalid_grant'
  throw isFinal ? new InvalidGrantError(message) : new Error(message)
}

/**
 * The login with newer tokens; if the server returns no new refresh token, the old one stays valid.
 */
export async function refreshLogin(login: Login, nowMs: number): Promise<Login> {
  const { refreshToken, resource } = login
  if (refreshToken === undefined) throw new InvalidGrantError('the login cannot be renewed')
  const parameters = { grant_type: 'refresh_token', refresh_token: refreshToken, resource }
  const { expiresMs: _, ...rest } = login
  const outgoing = new OutgoingHttp({ trusted: [login.url], zone: login.reach })
  const { idToken: __, ...tokens } = await requestTokens(login, parameters, { nowMs, outgoing })
  return { ...rest, ...tokens }
}

function readTokens(value: JsonObject, nowMs: number): TokenResponse {
  const {
    access_token: token,
    token_type: type,
    refresh_token: refresh,
    scope,
    id_token: id,
  } = value
  if (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token) || token.length > TOKEN_LENGTH_MAX)
    throw new Error('the authorisation server answered without a token that a header can carry')
  if (typeof type !== 'string' || type.toLowerCase() !== 'bearer')
    throw new Error(`the authorisation server gave a token of the type \`${String(type)}\``)
  const life = Number(value.expires_in)
  return {
    accessToken: token,
    ...(typeof refresh === 'string' ? { refreshToken: refresh } : {}),
    ...(Number.isFinite(life) && life > 0 ? { expiresMs: nowMs + life * 1_000 } : {}),
    ...(typeof scope === 'string' ? { scope } : {}),
    ...(typeof id === 'string' && id.length <= TOKEN_LENGTH_MAX ? { idToken: id } : {}),
  }
}
