// Discovers where to log in for an MCP server: its protected resource metadata (RFC 9728), from the
// challenge of its 401 or from the well-known URLs, and the metadata of the authorisation server it
// names. The resource must be the server that was asked, and the metadata that of the named issuer.

import type { JsonObject } from '@sluice/policy/values/json'
import { discoverIssuer, textsIn } from './discover-issuer.ts'
import { type FetchedDocument, OutgoingHttp } from './outgoing.ts'

export interface LoginEndpoints {
  /** The metadata of the authorisation server. */
  readonly metadata: JsonObject
  /** Sends the requests of this login: the names it has resolved stay pinned. */
  readonly outgoing: OutgoingHttp
  /** Empty if the tokens are for no MCP server. */
  readonly resource: string
  /** The scopes the server requests, as far as stated. */
  readonly scopes: readonly string[]
}

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}'

/** Throws with the reason if it cannot be found. `wanted` is the configured issuer. */
export async function discoverLogin(url: string, wanted?: string): Promise<LoginEndpoints> {
  const trusted = wanted === undefined || !URL.canParse(wanted) ? [url] : [url, wanted]
  const outgoing = new OutgoingHttp({ trusted })
  const { metadata, challenge, status } = await askServer(url, outgoing)
  if (metadata === undefined && status !== 401)
    throw new Error(`the server requires no login: it answered ${status || 'nothing'}`)
  const { origin } = new URL(url)
  // A server of 2025-03-26 has no such metadata: its own origin is its authorisation server.
  const named =
    metadata?.authorization_servers === undefined
      ? [origin]
      : textsIn(metadata, 'authorization_servers')
  const issuer = wanted ?? named[0]
  if (issuer === undefined || !named.includes(issuer))
    throw new Error(`the server names other authorisation servers: ${named.join(', ')}`)
  const scopes =
    parameter(challenge, 'scope')?.split(' ') ?? textsIn(metadata ?? {}, 'scopes_supported')
  const described = await discoverIssuer(issuer, outgoing)
  return { metadata: described, outgoing, resource: resourceIn(metadata, url), scopes }
}

/** An issuer of the configuration, for a person who is to be known there. */
export async function discoverIdentity(issuer: string): Promise<LoginEndpoints> {
  const outgoing = new OutgoingHttp({ trusted: [issuer] })
  const metadata = await discoverIssuer(issuer, outgoing)
  return { metadata, outgoing, resource: '', scopes: ['openid'] }
}

/** The resource that a token for this server is asked for. It covers the server, so that no other one can be
 * named; whatever else the server says is not used. */
export async function discoverResource(url: string): Promise<string> {
  const { metadata } = await askServer(url, new OutgoingHttp({ trusted: [url] }))
  return resourceIn(metadata, url)
}

function resourceIn(metadata: JsonObject | undefined, url: string): string {
  return typeof metadata?.resource === 'string' ? metadata.resource : url
}

async function askServer(url: string, outgoing: OutgoingHttp) {
  const { status, challenge = '' } = await outgoing
    .fetchJson(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: PING,
    })
    .catch(
      (): Pick<FetchedDocument, 'status' | 'challenge'> => ({ status: 0, challenge: undefined }),
    )
  const metadata = await resourceMetadata(url, parameter(challenge, 'resource_metadata'), outgoing)
  return { metadata, challenge, status }
}

async function resourceMetadata(
  url: string,
  named: string | undefined,
  outgoing: OutgoingHttp,
): Promise<JsonObject | undefined> {
  const { origin, pathname } = new URL(url)
  const base = `${origin}/.well-known/oauth-protected-resource`
  const path = pathname.replace(/\/$/, '')
  for (const candidate of named === undefined ? [`${base}${path}`, base] : [named]) {
    const { status, value } = await outgoing.fetchJson(candidate)
    if (status !== 200) continue
    if (!covers(value.resource, url))
      throw new Error(`\`${candidate}\` is the metadata of \`${String(value.resource)}\``)
    return value
  }
  return undefined
}

/** The server itself, or a parent of it: otherwise a server could get tokens for another. */
function covers(resource: unknown, url: string): boolean {
  if (typeof resource !== 'string' || !URL.canParse(resource)) return false
  const [whole, part] = [new URL(resource), new URL(url)]
  const path = whole.pathname.replace(/\/$/, '')
  const isWithin = part.pathname === path || part.pathname.startsWith(`${path}/`)
  return whole.origin === part.origin && whole.hash === '' && isWithin
}

/** A parameter of a `WWW-Authenticate` header. */
function parameter(challenge: string, name: string): string | undefined {
  return new RegExp(`(?:^|[\\s,])${name}="([^"]{1,2048})"`, 'i').exec(challenge)?.[1]
}
