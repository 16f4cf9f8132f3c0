// Access tokens of authorisation servers: JWTs that one of the configured issuers signed, for this
// gate, that have not expired. Only asymmetric algorithms: with HMAC the public key would be a secret.
// Keys are fetched when first needed and kept for a while; what was checked is remembered briefly.

import { hash } from 'node:crypto'
import {
  createRemoteJWKSet,
  customFetch,
  decodeJwt,
  errors,
  type JWTPayload,
  jwtVerify,
} from 'jose'
import type { JsonObject, JsonValue } from '../core/json.ts'
import { type Caller, NotLetIn } from './caller.ts'
import { discoverIssuer, endpointIn } from './discover-issuer.ts'
import type { TokenCheck } from './door.ts'
import { fetchJson } from './fetch-json.ts'
import type { Issuer } from './issuer.ts'
import {
  CHECKED_KEPT_MS,
  CHECKED_MAX,
  CLOCK_SKEW_S,
  FAILED_FETCH_REST_MS,
  FETCH_MS_MAX,
  GRANT_GROUPS_MAX,
  KEYS_COOLDOWN_MS,
  KEYS_KEPT_MS,
} from './limits.ts'
import { SUBJECT } from './names.ts'
import { isSafeUrl } from './safe-url.ts'

type Keys = ReturnType<typeof createRemoteJWKSet>

interface Checked {
  readonly payload: JWTPayload
  readonly issuer: Issuer
  readonly caller: Caller
  readonly untilMs: number
}

export class Tokens implements TokenCheck {
  readonly #issuers: ReadonlyMap<string, Issuer>
  readonly #nowMs: () => number
  readonly #keys = new Map<string, Promise<Keys>>()
  /** Of issuers that could not be reached: until when nobody tries again. */
  readonly #resting = new Map<string, { untilMs: number; why: string }>()
  readonly #checked = new Map<string, Checked>()

  constructor(issuers: readonly Issuer[], nowMs: () => number) {
    this.#issuers = new Map(issuers.map((one) => [one.issuer, one]))
    this.#nowMs = nowMs
  }

  /** `isStrict`: for these addresses and no other, whatever `audience` says. */
  async check(
    token: string,
    audiences: readonly string[],
    { isStrict = false }: { readonly isStrict?: boolean } = {},
  ): Promise<Caller> {
    const key = hash('sha256', token, 'base64url')
    let checked = this.#checked.get(key)
    if (checked === undefined || this.#nowMs() >= checked.untilMs) {
      this.#checked.delete(key)
      checked = await this.#verify(token)
      this.#keep(key, checked)
    }
    const { payload, issuer, caller } = checked
    checkAudience(payload, isStrict ? undefined : issuer.audience, audiences)
    checkScopes(payload, issuer)
    return caller
  }

  /** Who has just logged in there, by the ID token that came for the code: made for this client and for
   * the one request that had the nonce. */
  async checkIdToken(
    token: string,
    issuer: Issuer,
    { clientId, nonce }: { readonly clientId: string; readonly nonce: string },
  ): Promise<JWTPayload> {
    const payload = await this.#payload(token, issuer)
    const { aud, azp, sub = '' } = payload
    const named = typeof aud === 'string' ? [aud] : (aud ?? [])
    const isOurs = named.includes(clientId) && (azp === undefined || azp === clientId)
    // Made for several, it has to say which of them asked.
    if (!isOurs || (named.length > 1 && azp === undefined))
      throw invalid('the ID token is for another client')
    if (payload.nonce !== nonce) throw invalid('the ID token belongs to another sign-in')
    if (!SUBJECT.test(sub)) throw invalid('the subject of the ID token is no name')
    return payload
  }

  async #verify(token: string): Promise<Checked> {
    const issuer = this.#issuers.get(issuerOf(token))
    if (issuer === undefined) throw invalid('the issuer of the token is not one of this gate')
    const payload = await this.#payload(token, issuer)
    const { sub = '', exp = 0 } = payload
    if (!SUBJECT.test(sub)) throw invalid('the subject of the token is no name')
    const expiresMs = (exp + CLOCK_SKEW_S) * 1_000
    const caller: Caller = {
      principal: {
        id: `${issuer.name}:${sub}`,
        kind: 'oauth',
        groups: groupsOf(payload, issuer),
        claims: claimsOf(payload),
      },
      policy: issuer.policy,
      slots: issuer.slots,
      explain: issuer.explain,
      holds: () => this.#nowMs() < expiresMs,
    }
    const untilMs = Math.min(expiresMs, this.#nowMs() + CHECKED_KEPT_MS)
    return { payload, issuer, caller, untilMs }
  }

  async #payload(token: string, issuer: Issuer): Promise<JWTPayload> {
    const keys = await this.#keysOf(issuer)
    try {
      const { payload } = await jwtVerify(token, keys, {
        issuer: issuer.issuer,
        algorithms: [...issuer.algorithms],
        clockTolerance: CLOCK_SKEW_S,
        requiredClaims: ['exp', 'sub', 'aud'],
        currentDate: new Date(this.#nowMs()),
      })
      return payload
    } catch (error) {
      if (error instanceof errors.JWTExpired) throw invalid('the token has expired')
      if (error instanceof errors.JOSEError && !isOfKeys(error))
        throw invalid(`the token cannot be verified: ${error.message}`)
      throw this.#rest(issuer, error as Error)
    }
  }

  /** An issuer that cannot be reached is left alone for a while: tokens must not make the gate knock. */
  async #keysOf(issuer: Issuer): Promise<Keys> {
    const resting = this.#resting.get(issuer.issuer)
    if (resting !== undefined && this.#nowMs() < resting.untilMs) throw unreachable(resting.why)
    let keys = this.#keys.get(issuer.issuer)
    if (keys === undefined) {
      keys = findKeys(issuer)
      this.#keys.set(issuer.issuer, keys)
    }
    try {
      return await keys
    } catch (error) {
      this.#keys.delete(issuer.issuer)
      throw this.#rest(issuer, error as Error)
    }
  }

  #rest({ issuer }: Issuer, { message }: Error): NotLetIn {
    this.#resting.set(issuer, { untilMs: this.#nowMs() + FAILED_FETCH_REST_MS, why: message })
    return unreachable(message)
  }

  #keep(key: string, checked: Checked): void {
    this.#checked.set(key, checked)
    const [oldest] = this.#checked.keys()
    if (this.#checked.size > CHECKED_MAX && oldest !== undefined) this.#checked.delete(oldest)
  }
}

async function findKeys(issuer: Issuer): Promise<Keys> {
  const url = issuer.jwks ?? endpointIn(await discoverIssuer(issuer.issuer), 'jwks_uri')
  if (url === undefined || !isSafeUrl(url))
    throw new Error(`the authorisation server \`${issuer.issuer}\` names no keys to trust`)
  return createRemoteJWKSet(new URL(url), {
    cooldownDuration: KEYS_COOLDOWN_MS,
    cacheMaxAge: KEYS_KEPT_MS,
    timeoutDuration: FETCH_MS_MAX,
    [customFetch]: async (from, { signal }) => {
      const { status, text } = await fetchJson(from, { signal })
      return new Response(text, { status })
    },
  })
}

/** Nothing of it is believed: it only says whose keys to try. */
function issuerOf(token: string): string {
  try {
    return decodeJwt(token).iss ?? ''
  } catch {
    throw invalid('the token is not known here, and no JWT')
  }
}

/** The keys could not be had; the token may be right. */
function isOfKeys({ code }: errors.JOSEError): boolean {
  return ['ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID', 'ERR_JOSE_GENERIC'].includes(code)
}

function checkAudience(
  { aud }: JWTPayload,
  also: string | undefined,
  audiences: readonly string[],
): void {
  const named = typeof aud === 'string' ? [aud] : (aud ?? [])
  const ours = also === undefined ? audiences : [...audiences, also]
  if (!named.some((one) => ours.includes(one)))
    throw invalid(`the token is for another: its audience is not \`${audiences[0] ?? ''}\``)
}

function checkScopes(payload: JWTPayload, { scopes }: Issuer): void {
  const { scope, scp } = payload as { scope?: unknown; scp?: unknown }
  const given = new Set([scope, scp].flat().flatMap((one) => String(one ?? '').split(' ')))
  const missing = scopes.find((one) => !given.has(one))
  if (missing === undefined) return
  throw new NotLetIn(`the token lacks the scope \`${missing}\``, 'ask for it when logging in', {
    error: 'insufficient_scope',
  })
}

function groupsOf(payload: JWTPayload, { groups }: Issuer): string[] {
  const claim = payload[groups]
  const named = Array.isArray(claim) ? claim.filter((one) => typeof one === 'string') : []
  if (named.length <= GRANT_GROUPS_MAX) return named
  throw invalid(`the token names more than ${GRANT_GROUPS_MAX} groups`)
}

/** Without whole numbers that no double holds: nobody is to be judged by a rounded one. */
function claimsOf(payload: JWTPayload): JsonObject {
  const text = JSON.stringify(payload, (_, value: JsonValue) =>
    typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)
      ? undefined
      : value,
  )
  return JSON.parse(text) as JsonObject
}

function invalid(message: string): NotLetIn {
  return new NotLetIn(message, 'log in again', { error: 'invalid_token' })
}

function unreachable(why: string): NotLetIn {
  return new NotLetIn(why, 'tokens cannot be checked now: try again', { isFault: true })
}
