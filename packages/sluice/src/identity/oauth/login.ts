// A login at an authorisation server for one MCP server, as it is kept: the tokens, and what it takes
// to get new ones. Types and pure questions only.

import type { Zone } from './address-zones.ts'

export interface Login {
  /** The address of the MCP server it is for: a token goes nowhere else. */
  readonly url: string
  /** What tokens are asked for (RFC 8707). */
  readonly resource: string
  readonly issuer: string
  readonly tokenEndpoint: string
  /** The innermost zone that its endpoints may be in; logins of older versions have none. */
  readonly reach?: Zone
  readonly clientId: string
  readonly clientSecret?: string
  /** How the client says who it is. */
  readonly clientAuth: 'none' | 'client_secret_basic' | 'client_secret_post'
  readonly accessToken: string
  readonly refreshToken?: string
  /** Undefined where the server did not say. */
  readonly expiresMs?: number
  readonly scope?: string
}

/** Whose login it is: the gate's own is empty. */
export type LoginOf = { readonly server: string; readonly principal: string }

/** Time for a new token: so long before the old one expires. */
export function isDue({ expiresMs }: Login, nowMs: number, aheadMs: number): boolean {
  return expiresMs !== undefined && nowMs >= expiresMs - aheadMs
}
