// The metadata of an authorisation server, by RFC 8414 or OpenID Connect Discovery. It must name the
// very issuer it was asked of: otherwise one server could speak for another (mix-up).

import type { JsonObject } from '../core/json.ts'
import { fetchJson } from './fetch-json.ts'

/** Where the metadata may be, in the order the MCP specification says. */
export function metadataUrls(issuer: string): string[] {
  const { origin, pathname } = new URL(issuer)
  const path = pathname.replace(/\/$/, '')
  const names = ['oauth-authorization-server', 'openid-configuration']
  const inserted = names.map((name) => `${origin}/.well-known/${name}${path}`)
  return path === '' ? inserted : [...inserted, `${origin}${path}/.well-known/openid-configuration`]
}

/** Throws with the reason where there is none. */
export async function discoverIssuer(issuer: string): Promise<JsonObject> {
  let why = 'none of its well-known addresses has any'
  for (const url of metadataUrls(issuer)) {
    const { status, value } = await fetchJson(url)
    if (status !== 200) continue
    if (value.issuer === issuer) return value
    why = `\`${url}\` is that of \`${String(value.issuer).slice(0, 200)}\``
  }
  throw new Error(`no metadata of the authorisation server \`${issuer}\`: ${why}`)
}
