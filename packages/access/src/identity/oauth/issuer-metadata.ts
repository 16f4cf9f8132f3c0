// The metadata of issuers of the configuration, fetched when first needed and cached, as is a failure for a
// short time: neither pages nor calls make the gate send a request each.

import type { JsonObject } from '@sluice/policy/values/json'
import { FAILED_FETCH_REST_MS, KEYS_KEPT_MS } from '../limits.ts'
import { discoverIssuer } from './discover-issuer.ts'
import { OutgoingHttp } from './outgoing.ts'

export class IssuerMetadata {
  readonly #nowMs: () => number
  readonly #found = new Map<string, { readonly metadata: Promise<JsonObject>; untilMs: number }>()

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** Rejects with the reason if there is none. */
  of(issuer: string): Promise<JsonObject> {
    const known = this.#found.get(issuer)
    const nowMs = this.#nowMs()
    if (known !== undefined && nowMs < known.untilMs) return known.metadata
    const metadata = discoverIssuer(issuer, new OutgoingHttp({ trusted: [issuer] }))
    const found = { metadata, untilMs: nowMs + KEYS_KEPT_MS }
    this.#found.set(issuer, found)
    metadata.catch(() => {
      found.untilMs = this.#nowMs() + FAILED_FETCH_REST_MS
    })
    return metadata
  }
}
