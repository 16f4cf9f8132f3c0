// Connections to HTTP servers, kept open and shared by all links to one origin. Streams that stay
// open have a pool of their own, or they would take every connection from the calls. TLS is always
// verified. One for the gate; closed with it.
import { Pool } from 'undici'
import {
  HTTP_CONNECT_MS_MAX,
  HTTP_CONNECTIONS_MAX,
  HTTP_HEADER_BYTES_MAX,
  HTTP_KEEP_ALIVE_MS,
  HTTP_SILENCE_MS_MAX,
} from '../limits.js'
export class HttpPools {
  #origins = new Map()
  to(origin) {
    let pools = this.#origins.get(origin)
    if (pools === undefined) {
      pools = { calls: newPool(origin), streams: newPool(origin) }
      this.#origins.set(origin, pools)
    }
    return pools
  }
  /** Breaks off what is still open: close the links first. */
  async close() {
    const pools = [...this.#origins.values()].flatMap(({ calls, streams }) => [calls, streams])
    this.#origins.clear()
    await Promise.all(pools.map((pool) => pool.destroy()))
  }
}
function newPool(origin) {
  return new Pool(origin, {
    connections: HTTP_CONNECTIONS_MAX,
    pipelining: 1,
    // HTTP/2 sends requests of a lost connection again by itself; here only the gate may do that.
    allowH2: false,
    headersTimeout: HTTP_SILENCE_MS_MAX,
    bodyTimeout: HTTP_SILENCE_MS_MAX,
    keepAliveTimeout: HTTP_KEEP_ALIVE_MS,
    maxHeaderSize: HTTP_HEADER_BYTES_MAX,
    // Said here, so that NODE_TLS_REJECT_UNAUTHORIZED cannot take it away.
    connect: { timeout: HTTP_CONNECT_MS_MAX, rejectUnauthorized: true },
  })
}
