// Connections to HTTP servers, kept open and shared by all links to one origin. Streams that stay
// open have a pool of their own, or they would take every connection from the calls. One for the gate;
// closed with it.

import { performance } from 'node:perf_hooks'
import {
  HTTP_CONNECTIONS_MAX,
  HTTP_POOL_LOOK_MS,
  HTTP_SILENCE_MS_MAX,
} from '../../shared/limits.ts'
import { Connection, type ConnectionEvents, type ConnectionJob } from './http-connection.ts'
import { PinnedLookup } from './pinned-lookup.ts'

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
      if (free.isFresh(nowMs)) return free.take(job)
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
