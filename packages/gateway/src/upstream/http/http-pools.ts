// Connections to HTTP servers, kept open and shared by all links to one origin. Streams that stay
// open have a pool of their own, or they would take every connection from the calls. One for the gate;
// closed with it.

import { type LookupAddress, type LookupAllOptions, lookup as resolve } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { performance } from 'node:perf_hooks'
import { getZone, ZONES } from '@sluice/policy/readers/ip-address'
import { HTTP_CONNECTIONS_MAX, HTTP_POOL_LOOK_MS, HTTP_SILENCE_MS_MAX } from '../limits.ts'
import { Connection, type ConnectionEvents, type ConnectionJob } from './http-connection.ts'

/**
 * Names of HTTP servers, resolved for each connection and checked before it is made: the connection goes
 * to the address that was checked. The first resolution says in which network zone the server is; a later
 * one that leads further in (from the internet to this network or this machine) is refused, and so are
 * link-local and reserved addresses (DNS rebinding, cloud metadata). Used by the pools, one for an origin.
 */
export class PinnedLookup {
  readonly #resolve: ResolveHost
  /** Index of the innermost zone of the first resolution. */
  #innermost: number | undefined

  constructor(resolver: ResolveHost = resolve) {
    this.#resolve = resolver
  }

  /** The lookup of `connect`; it is not called for an address that stands in the URL. */
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
    const chosen = addresses[zones.indexOf(innermost)]?.address
    return new Error(
      `\`${hostname}\` now resolves to ${chosen}, a ${ZONES[innermost]} address; it was ${ZONES[this.#innermost]} before: restart the gate if that is meant`,
    )
  }
}

export class ConnectionPool implements ConnectionEvents {
  readonly host: string
  readonly #url: URL
  readonly #pinned = new PinnedLookup()
  readonly #all = new Set<Connection>()
  /** The last used is taken first, so that what is not needed grows old. */
  readonly #free: Connection[] = []
  readonly #waiting: ConnectionJob[] = []
  #looking: NodeJS.Timeout | undefined

  constructor(origin: string) {
    this.#url = new URL(origin)
    this.host = this.#url.host
  }

  /** Sends it over a free connection, a new one, or the next that gets free; never twice. */
  carry(job: ConnectionJob): void {
    const nowMs = performance.now()
    for (let free = this.#free.pop(); free !== undefined; free = this.#free.pop()) {
      if (free.isFresh(nowMs)) return free.take(job, nowMs)
      free.end()
    }
    if (this.#all.size >= HTTP_CONNECTIONS_MAX) this.#waiting.push(job)
    else this.#connect(job)
  }

  onFree(connection: Connection): void {
    const next = this.#next()
    if (next === undefined) this.#free.push(connection)
    else connection.take(next)
  }

  onGone(connection: Connection): void {
    this.#all.delete(connection)
    const at = this.#free.indexOf(connection)
    if (at >= 0) this.#free.splice(at, 1)
    const next = this.#next()
    if (next !== undefined) this.#connect(next)
    else if (this.#all.size === 0) this.#stopLooking()
  }

  /** Breaks off what is still open: close the links first. */
  close(): void {
    const why = new Error('the gate is stopping')
    for (const job of this.#waiting.splice(0)) if (!job.over) job.onError(why)
    for (const connection of this.#all) connection.end(why)
    this.#stopLooking()
  }

  #connect(job: ConnectionJob): void {
    this.#all.add(new Connection(this.#url, job, this, this.#pinned.lookup))
    this.#looking ??= setInterval(() => this.#look(), HTTP_POOL_LOOK_MS).unref()
  }

  #next(): ConnectionJob | undefined {
    for (let job = this.#waiting.shift(); job !== undefined; job = this.#waiting.shift())
      if (!job.over) return job
    return undefined
  }

  /** Ends what is free for too long, and what has been silent for too long. */
  #look(): void {
    const nowMs = performance.now()
    for (const connection of this.#free) if (!connection.isFresh(nowMs)) connection.end()
    const late = new Error(`nothing came for ${HTTP_SILENCE_MS_MAX} ms`)
    for (const connection of this.#all)
      if (connection.silentMs(nowMs) > HTTP_SILENCE_MS_MAX) connection.end(late)
  }

  #stopLooking(): void {
    clearInterval(this.#looking)
    this.#looking = undefined
  }
}

export interface OriginPools {
  readonly calls: ConnectionPool
  readonly streams: ConnectionPool
}

export class HttpPools {
  readonly #origins = new Map<string, OriginPools>()

  to(origin: string): OriginPools {
    let pools = this.#origins.get(origin)
    if (pools === undefined) {
      pools = { calls: new ConnectionPool(origin), streams: new ConnectionPool(origin) }
      this.#origins.set(origin, pools)
    }
    return pools
  }

  /** Breaks off what is still open: close the links first. */
  close(): void {
    for (const { calls, streams } of this.#origins.values()) {
      calls.close()
      streams.close()
    }
    this.#origins.clear()
  }
}

type ResolveHost = (
  hostname: string,
  options: LookupAllOptions,
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void
