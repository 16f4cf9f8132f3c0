// Requests to URLs that another server named (metadata, keys, registration, tokens): the only way
// the gate makes them. A server may only name addresses in its own network zone or further out,
// each host is resolved once, and the connection goes to the checked address (SSRF, DNS rebinding).
// TLS is always verified, redirects are not followed, time and size are bounded.

import type { LookupAddress } from 'node:dns'
import { lookup as resolve } from 'node:dns/promises'
import { type AddressZone, getZone, literalAddress, ZONES } from '@sluice/policy/readers/ip-address'
import { type JsonObject, parseObject } from '@sluice/policy/values/json'
import { FETCH_BYTES_MAX, FETCH_MS_MAX } from '../limits.ts'
import { isSafeUrl } from './safe-url.ts'

/** The response of a server. Nothing in it is to be trusted. */
export interface FetchedDocument {
  readonly status: number
  /** The header `WWW-Authenticate`, if present. */
  readonly challenge: string | undefined
  /** The body as a JSON object; empty if it is none. */
  readonly value: JsonObject
  readonly text: string
}

export interface FetchOptions {
  readonly method?: 'GET' | 'POST'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal?: AbortSignal
}

type ResolveHost = (hostname: string) => Promise<readonly LookupAddress[]>

export interface OutgoingOptions {
  /**
   * URLs that the operator configured: servers may name addresses in the zones these resolve to.
   */
  readonly trusted: readonly string[]
  /** The innermost zone that was found earlier, for the same servers. */
  readonly zone?: AddressZone | undefined
  readonly resolve?: ResolveHost
}

/**
 * One exchange with a server and those it names, such as one login. Short-lived: names are pinned.
 */
export class OutgoingHttp {
  readonly #options: OutgoingOptions
  readonly #resolve: ResolveHost
  readonly #pinned = new Map<string, Promise<readonly LookupAddress[]>>()
  #zone: Promise<AddressZone> | undefined

  constructor(options: OutgoingOptions) {
    this.#options = options
    this.#resolve = options.resolve ?? ((hostname) => resolve(hostname, { all: true }))
  }

  /** The innermost zone that may be requested. */
  get zone(): Promise<AddressZone> {
    this.#zone ??= this.#findZone()
    return this.#zone
  }

  /** Throws if the response is not usable: the message says why. */
  async fetchJson(url: string, options: FetchOptions = {}): Promise<FetchedDocument> {
    const shown = `\`${url.slice(0, 200)}\``
    if (!isSafeUrl(url)) throw new Error(`${shown} is not https`)
    const { method = 'GET', headers = {}, body } = options
    const limit = AbortSignal.timeout(FETCH_MS_MAX)
    // Loaded with the first request: most gates make none.
    const { Agent, fetch } = await import('undici')
    let agent: InstanceType<typeof Agent> | undefined
    try {
      const addresses = await this.#addressesOf(new URL(url))
      agent = new Agent({
        connect: {
          // Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED cannot disable it.
          rejectUnauthorized: true,
          timeout: FETCH_MS_MAX,
          lookup: (_, { all }, done) => {
            const [first] = addresses as [LookupAddress]
            if (all === true) done(null, [...addresses])
            else done(null, first.address, first.family)
          },
        },
      })
      const response = await fetch(url, {
        method,
        headers: { accept: 'application/json', ...headers },
        body: body ?? null,
        redirect: 'manual',
        signal: options.signal === undefined ? limit : AbortSignal.any([limit, options.signal]),
        dispatcher: agent,
      })
      const challenge = response.headers.get('www-authenticate') ?? undefined
      const text = await readText(response.body, response.ok)
      return { status: response.status, challenge, value: parseObject(text) ?? {}, text }
    } catch (error) {
      const { message, cause } = error as Error
      const why = cause instanceof Error ? `${message}: ${cause.message}` : message
      throw new FetchFailedError(`${shown} cannot be read: ${why}`)
    } finally {
      void agent?.destroy()
    }
  }

  /**
   * Checked: no other address is connected to. One forbidden address refuses them all, since the
   * connection may use any of them.
   */
  async #addressesOf({ hostname }: URL): Promise<readonly LookupAddress[]> {
    const zone = await this.zone
    const addresses = await this.#pin(hostname)
    if (this.#options.trusted.some((one) => new URL(one).hostname === hostname)) return addresses
    const inner = addresses.find(({ address }) => !isReachable(address, zone))
    if (inner === undefined) return addresses
    const where = literalAddress(hostname) === undefined ? ` (${inner.address})` : ''
    throw new Error(
      `\`${hostname}\`${where} is a ${getZone(inner.address)} address, which a server at a ${zone} address may not name`,
    )
  }

  /** Finds the zone of the server. Of several addresses the outermost counts: that is what the server can prove. */
  async #findZone(): Promise<AddressZone> {
    const { trusted, zone = 'public' } = this.#options
    let innermost = ZONES.indexOf(zone)
    for (const url of trusted) {
      const addresses = await this.#pin(new URL(url).hostname)
      const zones = addresses.map(({ address }) => ZONES.indexOf(getZone(address)))
      innermost = Math.max(innermost, Math.min(...zones))
    }
    return ZONES[innermost] ?? 'public'
  }

  #pin(hostname: string): Promise<readonly LookupAddress[]> {
    const literal = literalAddress(hostname)
    if (literal !== undefined)
      return Promise.resolve([{ address: literal, family: literal.includes(':') ? 6 : 4 }])
    const known = this.#pinned.get(hostname) ?? this.#find(hostname)
    this.#pinned.set(hostname, known)
    return known
  }

  async #find(hostname: string): Promise<readonly LookupAddress[]> {
    const addresses = await this.#resolve(hostname)
    if (addresses.length === 0) throw new Error(`\`${hostname}\` has no address`)
    return addresses
  }
}

/** There was no answer, or none that can be read. */
export class FetchFailedError extends Error {}

function isReachable(address: string, zone: AddressZone): boolean {
  const at = ZONES.indexOf(getZone(address))
  return at >= 0 && at <= ZONES.indexOf(zone)
}

/** The start of an error page is enough. */
async function readText(
  body: AsyncIterable<Uint8Array> | null,
  isWanted: boolean,
): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += chunk.length
    if (bytes > FETCH_BYTES_MAX && isWanted)
      throw new Error(`it has more than ${FETCH_BYTES_MAX} bytes`)
    if (bytes > FETCH_BYTES_MAX) break
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
