// The metadata of an authorisation server, by RFC 8414 or OpenID Connect Discovery. It must name
// exactly the issuer it was requested for: otherwise one server could impersonate another (mix-up).
// URLs it names are requested only over TLS and within reach of the server (outgoing.ts).

import { getZone, literalAddress } from '@sluice/policy/readers/ip-address'
import { type JsonObject, listStrings } from '@sluice/policy/values/json'
import type { OutgoingHttp } from './outgoing.ts'
import { isSafeUrl } from './safe-url.ts'

/** Where the metadata may be, in the order of the MCP specification. */
function metadataUrls(issuer: string): string[] {
  const { origin, pathname } = new URL(issuer)
  const path = pathname.replace(/\/$/, '')
  const names = ['oauth-authorization-server', 'openid-configuration']
  const inserted = names.map((name) => `${origin}/.well-known/${name}${path}`)
  return path === '' ? inserted : [...inserted, `${origin}${path}/.well-known/openid-configuration`]
}

/** Throws with the reason if there is none. */
export async function discoverIssuer(issuer: string, outgoing: OutgoingHttp): Promise<JsonObject> {
  let why = 'none of its well-known addresses has any'
  for (const url of metadataUrls(issuer)) {
    const { status, value } = await outgoing.fetchJson(url)
    if (status !== 200) continue
    if (value.issuer === issuer) return value
    why = `\`${url}\` is that of \`${String(value.issuer).slice(0, 200)}\``
  }
  throw new Error(`no metadata of the authorisation server \`${issuer}\`: ${why}`)
}

/** A URL that the metadata names. Throws if there is none, or none that may be used. */
export function endpointIn(metadata: JsonObject, name: string): string {
  const found = findEndpoint(metadata, name)
  if (found !== undefined) return found
  throw new Error(`the authorisation server \`${metadata.issuer}\` names no ${name}`)
}

/**
 * The same, or undefined. Throws if a remote server visibly names this machine or its
 * network: the gate does not fetch the authorization endpoint, a browser opens it. Whatever is
 * fetched is checked again after resolution.
 */
export function findEndpoint(metadata: JsonObject, name: string): string | undefined {
  const value = metadata[name]
  if (value === undefined) return undefined
  const issuer = String(metadata.issuer)
  if (typeof value !== 'string' || !isSafeUrl(value))
    throw new Error(`the ${name} of \`${issuer}\` is not https: \`${String(value).slice(0, 200)}\``)
  if (isInside(value) && !isInside(issuer))
    throw new Error(`the ${name} of \`${issuer}\` is on this machine: \`${value.slice(0, 200)}\``)
  return value
}

function isInside(address: string): boolean {
  const { hostname } = new URL(address)
  // RFC 6761: all names below `localhost` are this machine.
  if (/(?:^|\.)localhost\.?$/.test(hostname)) return true
  const literal = literalAddress(hostname)
  return literal !== undefined && ['loopback', 'special'].includes(getZone(literal))
}

export function textsIn(metadata: JsonObject, name: string): string[] {
  return listStrings(metadata[name])
}
