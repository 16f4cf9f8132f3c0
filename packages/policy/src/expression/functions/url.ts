// `url(x).host`, `.scheme`, `.isPrivate()`: where a URL an agent names leads. Called by the CEL
// environment. Strict on purpose: the gate and the server have two URL parsers, and whatever
// parsers are known to read differently (userinfo, `\`, `127.1`, `0x7f000001`, `#@`) is
// undecidable. Covers SSRF to the machine itself, to its network and to cloud metadata. A public
// name may still resolve to a private address: only the server that connects can see that.

import { getZone, parseV4, parseV6, spellV6 } from '../../readers/ip-address.ts'
import { UndecidableError } from './undecidable-error.ts'

const URL_LENGTH_MAX = 2_048
const NAME_LENGTH_MAX = 253
export const LABEL_LENGTH_MAX = 63
const PORT_MAX = 65_535

const STRANGE = /[\s\p{Cc}\p{Cf}\p{Cs}\\]/u
const SHAPE = /^([A-Za-z][A-Za-z0-9+.-]*):\/\/([^/?#]*)(.*)$/s
const AUTHORITY = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+))(?::([1-9]\d{0,4}))?$/
const NUMERIC = /^(?:\d+|0x[0-9a-f]*)$/

export const DEFAULT_PORTS: ReadonlyMap<string, number> = new Map([
  ['http', 80],
  ['https', 443],
  ['ws', 80],
  ['wss', 443],
  ['ftp', 21],
])

/** Names without a dot, names of local networks, and those that are known to resolve to a cloud's metadata service. */
const PRIVATE_NAME =
  /^[^.]*$|(?:^|\.)(?:local|localhost|localdomain|internal|home|home\.arpa|lan|intranet|corp|private|svc)$|^metadata\.(?:goog|tencentyun\.com)$/

export class PolicyUrl {
  readonly scheme: string
  readonly host: string
  /** The port as it is written, or the scheme's default; null if the scheme has none. */
  readonly port: number | null
  readonly inside: boolean

  constructor(scheme: string, host: string, port: number | null, inside: boolean) {
    this.scheme = scheme
    this.host = host
    this.port = port
    this.inside = inside
  }
}

export function parseUrl(text: string): PolicyUrl {
  if (text.length > URL_LENGTH_MAX) throw new UndecidableError('a URL that is too long', text)
  if (STRANGE.test(text))
    throw new UndecidableError('a space, `\\` or hidden character in a URL', text)
  const [, rawScheme, authority, rest] = SHAPE.exec(text) ?? []
  if (rawScheme === undefined || authority === undefined || rest === undefined) {
    throw new UndecidableError('a URL without `scheme://`', text)
  }
  // `http://good.example#@evil.example`: some parsers search for the `@` before the `#`.
  if (authority.includes('@') || (!rest.startsWith('/') && rest.includes('@'))) {
    throw new UndecidableError('a URL with `@` next to its host', text)
  }
  const match = AUTHORITY.exec(authority)
  if (!match) throw new UndecidableError('a host or port that URL parsers read differently', text)
  const [, literal, name, digits] = match
  const scheme = rawScheme.toLowerCase()
  const port = digits === undefined ? (DEFAULT_PORTS.get(scheme) ?? null) : Number(digits)
  if (port !== null && port > PORT_MAX) throw new UndecidableError('a port out of range', text)
  const [host, inside] = literal === undefined ? readName(String(name)) : readV6(literal)
  return new PolicyUrl(scheme, host, port, inside)
}

/** True for addresses and names that are not on the public internet. */
export function isPrivate(url: PolicyUrl): boolean {
  return url.inside
}

function readName(written: string): [host: string, inside: boolean] {
  const lower = written.toLowerCase()
  const host = lower.endsWith('.') ? lower.slice(0, -1) : lower
  const labels = host.split('.')
  if (NUMERIC.test(String(labels.at(-1)))) {
    if (parseV4(lower) === undefined)
      throw new UndecidableError('an address in an unusual spelling', written)
    return [host, getZone(lower) !== 'public']
  }
  const fits = labels.every((label) => label !== '' && label.length <= LABEL_LENGTH_MAX)
  if (!fits || host.length > NAME_LENGTH_MAX)
    throw new UndecidableError('a broken host name', written)
  // `xn--example-` is `example` to some parsers; validating labels takes Unicode's tables.
  if (labels.some((label) => label.startsWith('xn--'))) {
    throw new UndecidableError('an internationalised host name', written)
  }
  return [host, PRIVATE_NAME.test(host)]
}

function readV6(literal: string): [host: string, inside: boolean] {
  const groups = parseV6(literal)
  if (!groups) throw new UndecidableError('an address that is not IPv6', literal)
  return [`[${spellV6(groups)}]`, getZone(literal) !== 'public']
}
