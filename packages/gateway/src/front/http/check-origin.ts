// Who may speak to the gate at all: a Host that is the gate's and, where a browser sends one, an
// Origin of the same. Without this any web page could reach the gate through the browser (DNS
// rebinding). On this machine those are its own names; beyond it the public address, and the names
// that the certificate is for.

import type { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { isLoopbackName } from '@sluice/access/identity/oauth/safe-url'
import type { FrontRequest } from '../exchange/response-writer.ts'

export interface GateHostNames {
  /** The host on which the gate listens. */
  readonly host: string
  readonly publicUrl?: string | undefined
  /** The current certificate; undefined without TLS. */
  readonly certificate: () => X509Certificate | undefined
}

/** What a browser says of requests from another origin than the one asked. */
const ELSEWHERE: ReadonlySet<unknown> = new Set(['cross-site', 'same-site'])

/** Why the request is refused, or undefined. */
export function findOriginProblem(
  request: FrontRequest,
  port: number,
  names: GateHostNames,
): string | undefined {
  const { headers } = request
  const scheme = names.certificate() === undefined ? 'http' : 'https'
  if (!isOwn(`${scheme}://${(headers.host ?? '').toLowerCase()}`, port, names))
    return 'the Host header is not an address of this gate: `public_url` names the one that clients use'
  const { origin } = headers
  // A page elsewhere can send some requests without an Origin, but not hide that it is elsewhere.
  // A page of another port of this host is `same-site`: it is another origin all the same.
  if (origin === undefined)
    return ELSEWHERE.has(headers['sec-fetch-site'] ?? '') && !followsLink(request)
      ? 'the page does not belong to this gate'
      : undefined
  const from = origin.toLowerCase()
  const isOurs =
    from.startsWith(`${scheme}:`) && isOwn(from, port, { ...names, publicUrl: undefined })
  const isAllowed = isOurs || from === names.publicUrl
  return isAllowed ? undefined : 'the Origin header is not an address of this gate'
}

/** A person who follows a link in a chat or a mail to the console: the page is the same for everybody,
 * cannot be framed, and does nothing until somebody signs in. */
function followsLink({ method, url = '', headers }: FrontRequest): boolean {
  return (
    method === 'GET' &&
    headers['sec-fetch-mode'] === 'navigate' &&
    headers['sec-fetch-dest'] === 'document' &&
    !/^\/(mcp|api|metrics)(\/|\?|$)/.test(url)
  )
}

function isOwn(
  address: string,
  port: number,
  { host, publicUrl, certificate }: GateHostNames,
): boolean {
  const match = /^(https?):\/\/(\[[0-9a-f:.]+\]|[^\s:/@[\]]+)(?::(\d{1,5}))?$/.exec(address)
  if (match === null) return false
  const [, scheme = '', name = '', portText] = match
  if (publicUrl !== undefined && isSame(publicUrl, name, portText)) return true
  if (Number(portText ?? (scheme === 'https' ? 443 : 80)) !== port) return false
  if (isLoopbackName(name)) return isLocal(host) || isAny(host)
  const bare = name.replace(/^\[|\]$/g, '')
  if (bare === host && !isAny(host)) return true
  const own = certificate()
  if (own === undefined) return false
  return (isIP(bare) === 0 ? own.checkHost(bare) : own.checkIP(bare)) !== undefined
}

/** A proxy may leave out the port, or say it. */
function isSame(publicUrl: string, name: string, port: string | undefined): boolean {
  const { protocol, hostname, port: own } = new URL(publicUrl)
  const usual = protocol === 'https:' ? '443' : '80'
  return name === hostname && (port ?? usual) === (own || usual)
}

function isLocal(host: string): boolean {
  return isLoopbackName(host) || host === '::1'
}

function isAny(host: string): boolean {
  return host === '0.0.0.0' || host === '::'
}
