// The authorization code flow with PKCE (RFC 7636), for logins at servers and for people who sign in: the
// endpoints of the metadata, the URL that a browser opens, and the exchange of the code after the sender of
// the answer is checked (RFC 9207, mix-up).

import type { JsonObject } from '@sluice/policy/core/json'
import type { OAuthClient } from './client-authentication.ts'
import { endpointIn, textsIn } from './discover-issuer.ts'
import type { OutgoingHttp } from './outgoing.ts'
import { requestTokens, type TokenResponse } from './token-request.ts'

export interface CodeEndpoints {
  readonly issuer: string
  readonly authorizationEndpoint: string
  readonly tokenEndpoint: string
  readonly hasPkce: boolean
  /** The answer to an authorisation request names its issuer. */
  readonly namesIssuer: boolean
  readonly authMethods: readonly string[]
}

/** Throws if the metadata names none. */
export function readCodeEndpoints(issuer: string, metadata: JsonObject): CodeEndpoints {
  const authorizationEndpoint = endpointIn(metadata, 'authorization_endpoint')
  const tokenEndpoint = endpointIn(metadata, 'token_endpoint')
  if (authorizationEndpoint === undefined || tokenEndpoint === undefined)
    throw new Error(`the authorisation server \`${issuer}\` names no endpoints to log in at`)
  return {
    issuer,
    authorizationEndpoint,
    tokenEndpoint,
    hasPkce: textsIn(metadata, 'code_challenge_methods_supported').includes('S256'),
    namesIssuer: metadata.authorization_response_iss_parameter_supported === true,
    authMethods: textsIn(metadata, 'token_endpoint_auth_methods_supported'),
  }
}

/** The URL that the browser opens. Parameters that are undefined are left out. */
export function authorizationUrl(
  { authorizationEndpoint }: CodeEndpoints,
  parameters: Readonly<Record<string, string | undefined>>,
): string {
  const address = new URL(authorizationEndpoint)
  const all = { response_type: 'code', code_challenge_method: 'S256', ...parameters }
  for (const [name, value] of Object.entries(all))
    if (value !== undefined) address.searchParams.set(name, value)
  return address.href
}

/** Why the answer is not that of the issuer; `from` is its `iss`. */
export function mixUp(
  { issuer, namesIssuer }: CodeEndpoints,
  from: string | undefined,
): string | undefined {
  if (from === undefined ? !namesIssuer : from === issuer) return undefined
  return `the answer is not from \`${issuer}\` but from \`${(from ?? 'no issuer').slice(0, 200)}\``
}

export function exchangeCode(
  client: OAuthClient,
  answer: Readonly<Record<'code' | 'redirect_uri' | 'code_verifier', string>>,
  how: { readonly nowMs: number; readonly outgoing: OutgoingHttp; readonly resource?: string },
): Promise<TokenResponse> {
  const { resource = '', ...rest } = how
  const parameters = {
    grant_type: 'authorization_code',
    ...answer,
    resource: resource || undefined,
  }
  return requestTokens(client, parameters, rest)
}
