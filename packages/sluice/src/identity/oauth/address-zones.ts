// The network zone of an IP address. An address that embeds another one (IPv4-mapped, NAT64, 6to4)
// counts as the embedded address, otherwise a second spelling would bypass the check. Pure; used
// for addresses named by servers that the operator does not control (SSRF).

import { isIPv4, isIPv6 } from 'node:net'

/**
 * `special`: link-local, unspecified, multicast, reserved; never allowed to be named by another
 * server.
 */
export type AddressZone = 'public' | 'private' | 'loopback' | 'special'

type Block = readonly [prefix: readonly number[], bits: number, zone: AddressZone]

const IPV4: readonly Block[] = [
  [[127], 8, 'loopback'],
  [[10], 8, 'private'],
  [[100, 64], 10, 'private'],
  [[172, 16], 12, 'private'],
  [[192, 168], 16, 'private'],
  [[198, 18], 15, 'private'],
  [[0], 8, 'special'],
  [[169, 254], 16, 'special'],
  [[192, 0, 0], 24, 'special'],
  [[192, 0, 2], 24, 'special'],
  [[192, 88, 99], 24, 'special'],
  [[198, 51, 100], 24, 'special'],
  [[203, 0, 113], 24, 'special'],
  [[224], 3, 'special'],
]

/** Prefixes that embed an IPv4 address, and the byte at which it starts. */
const CARRIERS: readonly (readonly [prefix: readonly number[], bits: number, at: number])[] = [
  [[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff], 96, 12],
  [[0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0], 96, 12],
  [[0x20, 0x02], 16, 2],
]

/** Only the global unicast block can be public; the rest of IPv6 is special. */
const IPV6: readonly Block[] = [
  [[0xfc], 7, 'private'],
  [[0, 0x64, 0xff, 0x9b, 0, 1], 48, 'private'],
  [[0x20, 0x01, 0, 0], 23, 'special'],
  [[0x20, 0x01, 0x0d, 0xb8], 32, 'special'],
  [[0x3f, 0xff, 0], 20, 'special'],
  [[0x20], 3, 'public'],
]

/** For an address as a resolver or a URL writes it, with or without brackets. */
export function getZone(address: string): AddressZone {
  const bare = address.replace(/^\[|\]$/g, '').replace(/%.*$/s, '')
  if (isIPv4(bare)) return zoneIn(IPV4, bare.split('.').map(Number)) ?? 'public'
  if (!isIPv6(bare)) return 'special'
  const bytes = bytesOfIPv6(bare)
  if (bytes.slice(0, 15).every((byte) => byte === 0))
    return bytes[15] === 1 ? 'loopback' : 'special'
  for (const [prefix, bits, at] of CARRIERS)
    if (isWithin(bytes, prefix, bits)) return zoneIn(IPV4, bytes.slice(at, at + 4)) ?? 'public'
  return zoneIn(IPV6, bytes) ?? 'special'
}

/**
 * The IP address of a URL's host, undefined for a name. WHATWG URLs have already converted decimal,
 * octal and hexadecimal spellings into dotted ones.
 */
export function literalAddress(hostname: string): string | undefined {
  const bare = hostname.replace(/^\[|\]$/g, '')
  return isIPv4(bare) || isIPv6(bare) ? bare : undefined
}

function zoneIn(blocks: readonly Block[], bytes: readonly number[]): AddressZone | undefined {
  return blocks.find(([prefix, bits]) => isWithin(bytes, prefix, bits))?.[2]
}

function isWithin(bytes: readonly number[], prefix: readonly number[], bits: number): boolean {
  for (let at = 0; at * 8 < bits; at++) {
    const rest = bits - at * 8
    const mask = rest >= 8 ? 0xff : (0xff << (8 - rest)) & 0xff
    if (((bytes[at] as number) & mask) !== ((prefix[at] ?? 0) & mask)) return false
  }
  return true
}

/** A URL writes IPv6 addresses in one form: hexadecimal groups, at most one `::`. */
function bytesOfIPv6(address: string): number[] {
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1)
  const [head = '', tail] = canonical.split('::')
  const groups = (text: string): number[] =>
    text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16))
  const before = groups(head)
  const after = tail === undefined ? [] : groups(tail)
  const zeros = Array<number>(8 - before.length - after.length).fill(0)
  return [...before, ...zeros, ...after].flatMap((group) => [group >> 8, group & 0xff])
}
