// A stored login at an authorisation server for one MCP server: the tokens, and what is needed to
// refresh them. Types and pure functions only.

import type { AddressZone } from '@sluice/policy/core/ip-address'

export interface Login {
  /** The URL of the MCP server it is for: a token is sent nowhere else. */
  readonly url: string
  /** The resource that tokens are requested for (RFC 8707). */
  readonly resource: string
  readonly issuer: string
  readonly tokenEndpoint: string
  /** The innermost zone that its endpoints may be in; absent in logins of older versions. */
  readonly reach?: AddressZone
  readonly clientId: string
  readonly clientSecret?: string
  /** How the client authenticates. */
  readonly clientAuth: 'none' | 'client_secret_basic' | 'client_secret_post'
  readonly accessToken: string
  readonly refreshToken?: string
  /** Undefined if the server did not state it. */
  readonly expiresMs?: number
  readonly scope?: string
}

/** Whose login it is: empty for the gate's own. */
export type LoginOf = { readonly server: string; readonly principal: string }

/** Whether it is time to refresh: this long before the token expires. */
export function isDue({ expiresMs }: Login, nowMs: number, aheadMs: number): boolean {
  return expiresMs !== undefined && nowMs >= expiresMs - aheadMs
}
