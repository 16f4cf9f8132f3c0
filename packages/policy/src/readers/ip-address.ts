// IP addresses: how they are spelled, and which network zone they lead to. An address that embeds another one
// (IPv4-mapped, NAT64, 6to4) counts as the embedded address, otherwise a second spelling would bypass a check.
// Used by `url()` of the policy language, by the readers of hosts, and for addresses that servers name (SSRF).

const BYTE = /^(?:0|[1-9]\d{0,2})$/
const GROUP = /^[0-9A-Fa-f]{1,4}$/
/** Runs of zero groups, the longest first. */
const ZERO_RUNS = [7, 6, 5, 4, 3, 2, 1].map((more) => new RegExp(`(?:^|:)(?:0:){${more}}0(?=:|$)`))

/**
 * `special`: link-local, unspecified, multicast, reserved; never allowed to be named by another
 * server.
 */
export type AddressZone = 'public' | 'private' | 'loopback' | 'special'

/** From the outside in; a special address is in none of them. */
export const ZONES: readonly AddressZone[] = ['public', 'private', 'loopback']

type Block = readonly [base: bigint, bits: bigint, zone: AddressZone]

const V4: readonly Block[] = [
  [0x00000000n, 8n, 'special'], // this network
  [0x0a000000n, 8n, 'private'], // RFC 1918
  [0x64400000n, 10n, 'private'], // carrier-grade NAT
  [0x7f000000n, 8n, 'loopback'],
  [0xa83f8110n, 32n, 'special'], // 168.63.129.16, the host of Azure's machines
  [0xa9fe0000n, 16n, 'special'], // link-local, 169.254.169.254 among them
  [0xac100000n, 12n, 'private'], // RFC 1918
  [0xc0000000n, 24n, 'special'], // protocol assignments
  [0xc0000200n, 24n, 'special'], // documentation
  [0xc0586300n, 24n, 'special'], // 6to4 relays
  [0xc0a80000n, 16n, 'private'], // RFC 1918
  [0xc6120000n, 15n, 'private'], // benchmarking
  [0xc6336400n, 24n, 'special'], // documentation
  [0xcb007100n, 24n, 'special'], // documentation
  [0xe0000000n, 3n, 'special'], // multicast, reserved, broadcast
]
/** Only the global unicast block can be public; the rest of IPv6 is special. */
const V6: readonly Block[] = [
  [1n, 128n, 'loopback'],
  [0xfcn << 120n, 7n, 'private'],
  [0x64ff9b0001n << 80n, 48n, 'private'],
  [0x20010000n << 96n, 23n, 'special'], // protocol assignments, Teredo
  [0x20010db8n << 96n, 32n, 'special'], // documentation
  [0x3fff0000n << 96n, 20n, 'special'], // documentation
  [0x20n << 120n, 3n, 'public'],
]
/** Prefixes that embed an IPv4 address, and the bits behind it. */
const CARRIERS: readonly (readonly [base: bigint, bits: bigint, behind: bigint])[] = [
  [0xffffn << 32n, 96n, 0n],
  [0x64ff9bn << 96n, 96n, 0n],
  [0x2002n << 112n, 16n, 80n],
]

/** The zone of an address, with or without brackets, as a resolver or a URL writes it. A text that is no address is
 * `special`. */
export function getZone(address: string): AddressZone {
  const bare = address.replace(/^\[|\]$/g, '').replace(/%.*$/s, '')
  const v4 = parseV4(bare)
  if (v4 !== undefined) return zoneOfV4(v4)
  const v6 = parseV6(bare)?.reduce((sum, group) => (sum << 16n) | BigInt(group), 0n)
  if (v6 === undefined) return 'special'
  const carrier = CARRIERS.find(([base, bits]) => isWithin(v6, base, 128n - bits))
  if (carrier !== undefined) return zoneOfV4((v6 >> carrier[2]) & 0xffffffffn)
  return V6.find(([base, bits]) => isWithin(v6, base, 128n - bits))?.[2] ?? 'special'
}

function zoneOfV4(address: bigint): AddressZone {
  return V4.find(([base, bits]) => isWithin(address, base, 32n - bits))?.[2] ?? 'public'
}

function isWithin(address: bigint, base: bigint, rest: bigint): boolean {
  return address >> rest === base >> rest
}

/** The address that the host of a URL is, undefined for a name. */
export function literalAddress(hostname: string): string | undefined {
  const bare = hostname.replace(/^\[|\]$/g, '')
  return parseV4(bare) === undefined && parseV6(bare) === undefined ? undefined : bare
}

/** A dotted quad without leading zeros. */
export function parseV4(text: string): bigint | undefined {
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

/** Spells an address like RFC 5952: the first longest run of zeros, of two groups or more, becomes `::`. */
export function spellV6(groups: readonly number[]): string {
  const text = groups.map((group) => group.toString(16)).join(':')
  for (const run of ZERO_RUNS) {
    const shorter = text.replace(run, '::')
    if (shorter !== text) return shorter.replace(':::', '::')
  }
  return text
}
