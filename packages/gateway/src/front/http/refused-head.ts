// The head of a request as `node:http` read it, checked for what it leaves open: headers that are
// there twice, codings beside `chunked`, versions, forms of the target. Each would be read in another
// way by a proxy in front or a handler behind. Pure; the HTTP front asks before it looks at anything.

import type { IncomingMessage } from 'node:http'

export type RequestHead = Pick<IncomingMessage, 'httpVersion' | 'rawHeaders' | 'headers' | 'url'>

export interface RefusedHead {
  readonly status: 400 | 404 | 501 | 505
  readonly why: string
}

/** Read as one value, here or by a balancer in front: `node:http` keeps the first of two, joins
 * them, or keeps both, depending on the name. */
const SINGLE =
  /^(?:host|content-(?:type|length|encoding)|transfer-encoding|authorization|origin|last-event-id|expect|upgrade|traceparent|(?:sec-fetch|mcp)-.*)$/
const LENGTH = /^(?:0|[1-9]\d*)$/
const ABSOLUTE = /^(https?):\/\/([^/?#]*)(.*)$/is
/** A URL parser resolves these segments, a proxy in front may not: `/mcp/../api` is `/mcp` to one and
 * `/api` to the other. */
const MOVES = /\\|\/(?:\.|%2e){1,2}(?:\/|$)/i

/** Why the request must not be looked at any further. The connection has to end with it: where the
 * next request begins is what two readers may disagree about. */
export function checkHead({
  httpVersion,
  rawHeaders,
  headers,
}: RequestHead): RefusedHead | undefined {
  if (httpVersion !== '1.1' && httpVersion !== '1.0')
    return refusal(505, `HTTP/${httpVersion} is not spoken here: send HTTP/1.1`)
  const seen = new Set<string>()
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] as string).toLowerCase()
    if (!SINGLE.test(name)) continue
    if (seen.has(name)) return refusal(400, `the header \`${name.slice(0, 100)}\` is there twice`)
    seen.add(name)
  }
  const { 'transfer-encoding': coding, 'content-length': length } = headers
  if (coding !== undefined && httpVersion === '1.0')
    return refusal(400, 'HTTP/1.0 has no Transfer-Encoding')
  if (coding !== undefined && coding.toLowerCase() !== 'chunked')
    return refusal(501, `the Transfer-Encoding \`${coding.slice(0, 100)}\` is not \`chunked\``)
  if (length !== undefined && !LENGTH.test(length))
    return refusal(400, `the Content-Length \`${length.slice(0, 100)}\` is not a plain number`)
  return undefined
}

/** The path and query that are asked for. A whole address must be of the host that the Host header
 * names (RFC 9112, 3.2.2), which is checked to be the gate's. */
export function targetOf(
  { url = '', headers }: RequestHead,
  scheme: 'http' | 'https',
): { readonly target: string } | RefusedHead {
  if (url.includes('#')) return refusal(400, 'the request target has a fragment')
  if (MOVES.test(url.split('?', 1)[0] as string))
    return refusal(400, 'the request target has `.`, `..` or `\\` in its path')
  const whole = ABSOLUTE.exec(url)
  if (whole === null) return url.startsWith('//') ? nothingThere(url) : { target: url }
  const [, written = '', authority = '', rest = ''] = whole
  if (written.toLowerCase() !== scheme || authority.toLowerCase() !== headers.host?.toLowerCase())
    return refusal(400, 'the request target names another host than the Host header')
  if (rest.startsWith('//')) return nothingThere(rest)
  return { target: rest.startsWith('/') ? rest : `/${rest}` }
}

function nothingThere(path: string): RefusedHead {
  return refusal(404, `nothing is at \`${path.slice(0, 100)}\``)
}

function refusal(status: RefusedHead['status'], why: string): RefusedHead {
  return { status, why }
}
