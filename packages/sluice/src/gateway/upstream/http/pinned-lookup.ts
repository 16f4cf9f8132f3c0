// Names of HTTP servers, resolved for each connection and checked before it is made: the connection goes
// to the address that was checked. The first resolution says in which network zone the server is; a later
// one that leads further in (from the internet to this network or this machine) is refused, and so are
// link-local and reserved addresses (DNS rebinding, cloud metadata). Used by the pools, one for an origin.

import { type LookupAddress, type LookupAllOptions, lookup as resolve } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { getZone, type Zone } from '../../../identity/oauth/address-zones.ts'

/** From the outside in; a special address is in none of them. */
const ZONES: readonly Zone[] = ['public', 'private', 'loopback']

type ResolveHost = (
  hostname: string,
  options: LookupAllOptions,
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

export class PinnedLookup {
  readonly #resolve: ResolveHost
  /** Index of the innermost zone of the first resolution. */
  #innermost: number | undefined

  constructor(resolver: ResolveHost = resolve) {
    this.#resolve = resolver
  }

  /** For `connect`; it is not called for an address that stands in the URL. */
  readonly lookup: LookupFunction = (hostname, options, done) => {
    this.#resolve(hostname, { ...options, all: true }, (error, addresses = []) => {
      const fault = error ?? this.#findFault(hostname, addresses)
      const [first] = addresses
      if (fault !== undefined || first === undefined) done(fault ?? null, '', 0)
      else if (options.all === true) done(null, addresses)
      else done(null, first.address, first.family)
    })
  }

  /** One forbidden address refuses them all: the connection may use any of them. */
  #findFault(hostname: string, addresses: readonly LookupAddress[]): Error | undefined {
    if (addresses.length === 0) return new Error(`\`${hostname}\` has no address`)
    const zones = addresses.map(({ address }) => ZONES.indexOf(getZone(address)))
    const special = addresses[zones.indexOf(-1)]
    if (special !== undefined)
      return new Error(
        `\`${hostname}\` resolves to ${special.address}, a link-local or reserved address`,
      )
    const innermost = Math.max(...zones)
    this.#innermost ??= innermost
    if (innermost <= this.#innermost) return undefined
    const found = addresses[zones.indexOf(innermost)]?.address
    return new Error(
      `\`${hostname}\` now resolves to ${found}, a ${ZONES[innermost]} address; it was ${ZONES[this.#innermost]} before: restart the gate if that is meant`,
    )
  }
}
