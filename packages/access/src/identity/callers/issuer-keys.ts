// The public keys of one issuer: fetched when first needed, cached, and fetched again when a token
// names an unknown key. A failed fetch affects only tokens whose key is missing: a stranger's token
// with an unknown `kid` must not evict the cached keys.

import { isObject, type JsonObject } from '@sluice/policy/values/json'
import { createLocalJWKSet, errors, type JWK, type JWTVerifyGetKey } from 'jose'
import { FAILED_FETCH_REST_MS, KEYS_COOLDOWN_MS, KEYS_KEPT_MS } from '../limits.ts'
import { discoverIssuer, endpointIn } from '../oauth/discover-issuer.ts'
import { OutgoingHttp } from '../oauth/outgoing.ts'
import type { Issuer } from './issuer.ts'

/** The keys are not available at the moment; the token may be valid. */
export class KeysUnreachable extends Error {}

interface KeptKeys {
  readonly find: JWTVerifyGetKey
  readonly fetchedMs: number
}

export class IssuerKeys {
  readonly #issuer: Issuer
  readonly #nowMs: () => number
  #url: string | undefined
  #cached: KeptKeys | undefined
  #fetching: Promise<KeptKeys> | undefined
  /** Until when nothing is fetched, and why: tokens must not make the gate send requests. */
  #resting: { readonly untilMs: number; readonly why: string } | undefined

  constructor(issuer: Issuer, nowMs: () => number) {
    this.#issuer = issuer
    this.#nowMs = nowMs
  }

  /** The key callback of `jwtVerify`. Throws KeysUnreachable. */
  readonly find: JWTVerifyGetKey = async (header, token) => {
    const keys = this.#isFresh() ? (this.#cached as KeptKeys) : await this.#fetch()
    try {
      return await keys.find(header, token)
    } catch (error) {
      const isOld = this.#nowMs() - keys.fetchedMs >= KEYS_COOLDOWN_MS
      if (!(error instanceof errors.JWKSNoMatchingKey) || !isOld)
        throw this.#faultOf(error as Error)
    }
    const newer = await this.#fetch()
    try {
      return await newer.find(header, token)
    } catch (error) {
      throw this.#faultOf(error as Error)
    }
  }

  /** An unreadable key is the fault of the issuer, not of the caller or the gate. */
  #faultOf(error: Error): Error {
    if (error instanceof errors.JOSEError) return error
    return new KeysUnreachable(`a key of \`${this.#issuer.issuer}\` is none: ${error.message}`)
  }

  #isFresh(): boolean {
    const agoMs = this.#nowMs() - (this.#cached?.fetchedMs ?? Number.NEGATIVE_INFINITY)
    return agoMs >= 0 && agoMs < KEYS_KEPT_MS
  }

  #fetch(): Promise<KeptKeys> {
    const resting = this.#resting
    if (resting !== undefined && this.#nowMs() < resting.untilMs)
      return Promise.reject(new KeysUnreachable(resting.why))
    this.#fetching ??= this.#read()
      .catch((error: Error) => {
        this.#resting = { untilMs: this.#nowMs() + FAILED_FETCH_REST_MS, why: error.message }
        throw new KeysUnreachable(error.message)
      })
      .finally(() => {
        this.#fetching = undefined
      })
    return this.#fetching
  }

  async #read(): Promise<KeptKeys> {
    const { issuer, jwks } = this.#issuer
    const outgoing = new OutgoingHttp({ trusted: jwks === undefined ? [issuer] : [issuer, jwks] })
    this.#url ??= jwks ?? endpointIn(await discoverIssuer(issuer, outgoing), 'jwks_uri')
    const { status, value } = await outgoing.fetchJson(this.#url)
    if (status !== 200 || !Array.isArray(value.keys) || !value.keys.every(isObject))
      throw new Error(`\`${this.#url}\` answered ${status}, without a key set`)
    const find = createLocalJWKSet({ keys: value.keys.filter(isKey) })
    this.#cached = { find, fetchedMs: this.#nowMs() }
    return this.#cached
  }
}

/** A key names its type; one without it is of no use and is left out. */
function isKey(value: JsonObject): value is JsonObject & JWK {
  return typeof value.kty === 'string'
}
