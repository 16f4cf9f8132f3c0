// The authorization code flow with PKCE (RFC 7636), for logins at servers and for people who sign in: the URL
// that a browser opens, and the exchange of the code after the sender of the answer is checked (RFC 9207,
// mix-up). `metadata` is that of the issuer.

import type { JsonObject } from '@sluice/policy/values/json'
import type { OAuthClient } from './client-authentication.ts'
import { endpointIn, textsIn } from './discover-issuer.ts'
import {
  InvalidGrantError,
  requestTokens,
  type TokenRequestOptions,
  type TokenResponse,
} from './token-request.ts'

/** What the browser came back with. */
export type CodeAnswer = Readonly<
  Partial<Record<'iss' | 'code' | 'error' | 'error_description', string | undefined>>
>

/** Whether the server has PKCE: without it anyone who sees the code could use it. */
export function hasPkce(metadata: JsonObject): boolean {
  return textsIn(metadata, 'code_challenge_methods_supported').includes('S256')
}

/** The URL that the browser opens. Parameters that are undefined are left out. */
export function authorizationUrl(
  metadata: JsonObject,
  parameters: Readonly<Record<string, string | undefined>>,
): string {
  const address = new URL(endpointIn(metadata, 'authorization_endpoint'))
  const all = { response_type: 'code', code_challenge_method: 'S256', ...parameters }
  for (const [name, value] of Object.entries(all))
    if (value !== undefined) address.searchParams.set(name, value)
  return address.href
}

/** Throws if the issuer refused, or another server answered. `request` is what the answer belongs to. */
export function exchangeCode(
  client: OAuthClient & { readonly metadata: JsonObject },
  { iss, code, error, error_description: why = 'no reason given' }: CodeAnswer,
  request: Readonly<Record<'redirect_uri' | 'code_verifier', string> & { resource?: string }>,
  options: TokenRequestOptions,
): Promise<TokenResponse> {
  const { issuer, metadata } = client
  const isNamed = metadata.authorization_response_iss_parameter_supported === true
  if (iss === undefined ? isNamed : iss !== issuer) {
    const from = (iss ?? 'no issuer').slice(0, 200)
    throw new InvalidGrantError(`the answer is not from \`${issuer}\` but from \`${from}\``, 'iss')
  }
  if (error !== undefined) throw new Error(`${error}: ${why}`)
  if (code === undefined) throw new Error('the answer has no code')
  return requestTokens(client, { grant_type: 'authorization_code', code, ...request }, options)
}
