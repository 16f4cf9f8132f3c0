// `url(x).host`, `.scheme`, `.isPrivate()`: where a URL an agent names leads. Called by the CEL
// environment. Strict on purpose: the gate and the server have two URL parsers, and whatever
// parsers are known to read differently (userinfo, `\`, `127.1`, `0x7f000001`, `#@`) is
// undecidable. Covers SSRF to the machine itself, to its network and to cloud metadata. A public
// name may still resolve to a private address: only the server that connects can see that.

import { UndecidableError } from './undecidable-error.ts'

const URL_LENGTH_MAX = 2_048
const NAME_LENGTH_MAX = 253
export const LABEL_LENGTH_MAX = 63
const PORT_MAX = 65_535

const STRANGE = /[\s\p{Cc}\p{Cf}\p{Cs}\\]/u
const SHAPE = /^([A-Za-z][A-Za-z0-9+.-]*):\/\/([^/?#]*)(.*)$/s
const AUTHORITY = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+))(?::([1-9]\d{0,4}))?$/
const NUMERIC = /^(?:\d+|0x[0-9a-f]*)$/
const BYTE = /^(?:0|[1-9]\d{0,2})$/
/** Runs of zero groups, the longest first. */
const ZERO_RUNS = [7, 6, 5, 4, 3, 2, 1].map((more) => new RegExp(`(?:^|:)(?:0:){${more}}0(?=:|$)`))
const GROUP = /^[0-9A-Fa-f]{1,4}$/

export const DEFAULT_PORTS: ReadonlyMap<string, number> = new Map([
  ['http', 80],
  ['https', 443],
  ['ws', 80],
  ['wss', 443],
  ['ftp', 21],
])

const PRIVATE_SUFFIXES = [
  'localhost',
  'local',
  'internal',
  'home.arpa',
  'lan',
  'intranet',
  'corp',
  'localdomain',
  'home',
  'private',
  'svc',
]
/** Public names that are known to resolve to a cloud's metadata service. */
const METADATA_NAMES = ['metadata.goog', 'metadata.tencentyun.com']

type AddressRange = readonly [base: bigint, bits: bigint]
const PRIVATE_V4: readonly AddressRange[] = [
  [0x00000000n, 8n], // this network
  [0x0a000000n, 8n], // RFC 1918
  [0x64400000n, 10n], // carrier-grade NAT
  [0x7f000000n, 8n], // loopback
  [0xa83f8110n, 32n], // 168.63.129.16, the host of Azure's machines
  [0xa9fe0000n, 16n], // link-local, 169.254.169.254 among them
  [0xac100000n, 12n], // RFC 1918
  [0xc0000000n, 24n], // protocol assignments
  [0xc0000200n, 24n], // documentation
  [0xc0586300n, 24n], // 6to4 relays
  [0xc0a80000n, 16n], // RFC 1918
  [0xc6120000n, 15n], // benchmarking
  [0xc6336400n, 24n], // documentation
  [0xcb007100n, 24n], // documentation
  [0xe0000000n, 4n], // multicast
  [0xf0000000n, 4n], // reserved, broadcast
]
/** Within 2000::/3; addresses outside of it are not public. */
const PRIVATE_V6: readonly AddressRange[] = [
  [0x20010000n << 96n, 23n], // protocol assignments, Teredo
  [0x20010db8n << 96n, 32n], // documentation
  [0x3fff0000n << 96n, 20n], // documentation
]

export class PolicyUrl {
  readonly scheme: string
  readonly host: string
  /** As written, or the scheme's default; null if the scheme has none. */
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
    const address = parseV4(lower)
    if (address === undefined)
      throw new UndecidableError('an address in an unusual spelling', written)
    return [host, v4IsPrivate(address)]
  }
  const fits = labels.every((label) => label !== '' && label.length <= LABEL_LENGTH_MAX)
  if (!fits || host.length > NAME_LENGTH_MAX)
    throw new UndecidableError('a broken host name', written)
  // `xn--example-` is `example` to some parsers; validating labels takes Unicode's tables.
  if (labels.some((label) => label.startsWith('xn--'))) {
    throw new UndecidableError('an internationalised host name', written)
  }
  const inside =
    labels.length === 1 ||
    METADATA_NAMES.includes(host) ||
    PRIVATE_SUFFIXES.some((suffix) => host === suffix || host.endsWith(`.${suffix}`))
  return [host, inside]
}

function readV6(literal: string): [host: string, inside: boolean] {
  const groups = parseV6(literal)
  if (!groups) throw new UndecidableError('an address that is not IPv6', literal)
  const address = groups.reduce((sum, group) => (sum << 16n) | BigInt(group), 0n)
  return [`[${spellV6(groups)}]`, v6IsPrivate(address)]
}

/** A dotted quad without leading zeros. */
function parseV4(text: string): bigint | undefined {
  const parts = text.split('.')
  if (parts.length !== 4) return undefined
  if (!parts.every((part) => BYTE.test(part) && Number(part) <= 255)) return undefined
  return parts.reduce((sum, part) => (sum << 8n) | BigInt(part), 0n)
}

export function parseV6(text: string): number[] | undefined {
  const quad = text.includes('.') ? text.slice(text.lastIndexOf(':') + 1) : ''
  const embedded = quad === '' ? undefined : parseV4(quad)
  if (quad !== '' && embedded === undefined) return undefined
  const hex =
    embedded === undefined
      ? text
      : `${text.slice(0, -quad.length)}${(embedded >> 16n).toString(16)}:${(embedded & 0xffffn).toString(16)}`
  const [head = [], tail, ...more] = hex
    .split('::')
    .map((half) => (half === '' ? [] : half.split(':')))
  const parts = [...head, ...(tail ?? [])]
  if (more.length > 0 || !parts.every((part) => GROUP.test(part))) return undefined
  if (tail ? parts.length > 7 : parts.length !== 8) return undefined
  const zeros = Array.from({ length: 8 - parts.length }, () => '0')
  return [...head, ...zeros, ...(tail ?? [])].map((part) => Number.parseInt(part, 16))
}

/** As RFC 5952 spells it: the first longest run of zeros, of two groups or more, becomes `::`. */
export function spellV6(groups: readonly number[]): string {
  const text = groups.map((group) => group.toString(16)).join(':')
  for (const run of ZERO_RUNS) {
    const shorter = text.replace(run, '::')
    if (shorter !== text) return shorter.replace(':::', '::')
  }
  return text
}

function v4IsPrivate(address: bigint): boolean {
  return PRIVATE_V4.some(([base, bits]) => address >> (32n - bits) === base >> (32n - bits))
}

/** Addresses that embed an IPv4 address (mapped, NAT64, 6to4) are classified by it. */
function v6IsPrivate(address: bigint): boolean {
  const upper = address >> 32n
  if (upper === 0xffffn || upper === 0x64ff9b0000000000000000n) {
    return v4IsPrivate(address & 0xffffffffn)
  }
  if (address >> 112n === 0x2002n) return v4IsPrivate((address >> 80n) & 0xffffffffn)
  if (address >> 125n !== 1n) return true
  return PRIVATE_V6.some(([base, bits]) => address >> (128n - bits) === base >> (128n - bits))
}
