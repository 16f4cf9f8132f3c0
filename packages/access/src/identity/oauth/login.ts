// A stored login at an authorisation server for one MCP server: the tokens, and what is needed to
// refresh them. Types and pure functions only.

import type { AddressZone } from '@sluice/policy/readers/ip-address'
import { type JsonObject, parseObject } from '@sluice/policy/values/json'
import type { ClientAuth } from './client-authentication.ts'

export interface Login {
  /** The URL of the MCP server it is for: a token is sent nowhere else. */
  readonly url: string
  /** The resource that tokens are requested for (RFC 8707); empty if there is none. */
  readonly resource: string
  readonly issuer: string
  readonly tokenEndpoint: string
  /** The innermost zone that its endpoints may be in; absent in logins of older versions. */
  readonly reach?: AddressZone
  readonly clientId: string
  /** The secret of a client that the gate has registered; any other is in the configuration. */
  readonly clientSecret?: string
  readonly clientAuth: ClientAuth
  readonly accessToken: string
  readonly refreshToken?: string
  /** When the token expires; undefined if the server did not state it. */
  readonly expiresMs?: number | undefined
  readonly scope?: string | undefined
  /** The ID token of a person at an issuer of the configuration: what ID-JAG is asked for with. */
  readonly idToken?: string
}

/** A login whose ID token counts, and not its access token. */
export function asIdentity<Tokens extends Pick<Login, 'idToken'>>({
  idToken,
  ...tokens
}: Tokens): Omit<Tokens, 'idToken'> & Pick<Login, 'idToken' | 'expiresMs'> {
  if (idToken === undefined) return tokens
  const expiresMs = expiryOf(idToken)
  return { ...tokens, idToken, ...(expiresMs === undefined ? {} : { expiresMs }) }
}

/** Whose login it is: empty for the gate's own. */
export type LoginOf = { readonly server: string; readonly principal: string }

/** Whether it is time to refresh: this long before the token expires. */
export function isDue({ expiresMs }: Login, nowMs: number, aheadMs: number): boolean {
  return expiresMs !== undefined && nowMs >= expiresMs - aheadMs
}

/** When a JWT ends, in milliseconds; undefined if it does not say. Nothing of it is verified. */
export function expiryOf(jwt: string): number | undefined {
  const { exp } = readJwt(jwt, 'claims')
  return typeof exp === 'number' ? exp * 1_000 : undefined
}

/** Empty if it is no JWT. Nothing of it is verified. */
export function readJwt(jwt: string, part: 'header' | 'claims'): JsonObject {
  const text = jwt.split('.')[part === 'header' ? 0 : 1] ?? ''
  return parseObject(Buffer.from(text, 'base64url').toString()) ?? {}
}
