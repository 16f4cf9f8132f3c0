// Verifies access tokens of authorisation servers: JWTs signed by one of the configured issuers,
// for this gate, not expired. Only asymmetric algorithms: with HMAC the public key would be the
// secret. Keys are fetched when first needed and cached; verified tokens are cached briefly.

import { hash } from 'node:crypto'
import { LruMap } from '@sluice/policy/structures/lru-map'
import { type JsonObject, type JsonValue, listStrings } from '@sluice/policy/values/json'
import { decodeJwt, errors, type JWTPayload, jwtVerify } from 'jose'
import { GRANT_GROUPS_MAX } from '../grant-fields.ts'
import { CHECKED_KEPT_MS, CHECKED_MAX, CLOCK_SKEW_S } from '../limits.ts'
import { SUBJECT } from '../names.ts'
import type { TokenVerifier } from './authenticator.ts'
import { AuthenticationError, type Caller } from './caller.ts'
import type { Issuer } from './issuer.ts'
import { IssuerKeys, KeysUnreachable } from './issuer-keys.ts'

/** Claims with the types of the standard. */
type CheckedPayload = JWTPayload & {
  readonly sub: string
  readonly exp: number
  readonly aud: readonly string[]
}

interface VerifiedToken {
  readonly payload: CheckedPayload
  readonly issuer: Issuer
  readonly caller: Caller
  readonly untilMs: number
}

export class AccessTokenVerifier implements TokenVerifier {
  readonly #issuers: ReadonlyMap<string, Issuer>
  readonly #nowMs: () => number
  readonly #keys = new Map<string, IssuerKeys>()
  readonly #checked = new LruMap<string, VerifiedToken>(CHECKED_MAX)

  constructor(issuers: readonly Issuer[], nowMs: () => number) {
    this.#issuers = new Map(issuers.map((one) => [one.issuer, one]))
    this.#nowMs = nowMs
  }

  /** `isStrict`: for these audiences only, regardless of `audience`. */
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
      this.#checked.set(key, checked)
    }
    const { payload, issuer, caller } = checked
    checkAudience(payload, isStrict ? undefined : issuer.audience, audiences)
    checkScopes(payload, issuer)
    return caller
  }

  /**
   * The person who has just signed in, by the ID token of the code exchange: issued for this client
   * and for the one request with the nonce.
   */
  async checkIdToken(
    token: string,
    issuer: Issuer,
    { clientId, nonce }: { readonly clientId: string; readonly nonce: string },
  ): Promise<CheckedPayload> {
    const payload = await this.#payload(token, issuer)
    const { aud: named, azp } = payload
    const isOurs = named.includes(clientId) && (azp === undefined || azp === clientId)
    // A token for several audiences must name the authorised party.
    if (!isOurs || (named.length > 1 && azp === undefined))
      throw invalid('the ID token is for another client')
    if (payload.nonce !== nonce) throw invalid('the ID token belongs to another sign-in')
    return payload
  }

  async #verify(token: string): Promise<VerifiedToken> {
    const issuer = this.#issuers.get(readIssuer(token))
    if (issuer === undefined) throw invalid('the issuer of the token is not one of this gate')
    const payload = await this.#payload(token, issuer)
    const { exp } = payload
    const expiresMs = (exp + CLOCK_SKEW_S) * 1_000
    const caller: Caller = {
      principal: {
        id: `${issuer.name}:${subjectOf(payload, issuer)}`,
        kind: 'oauth',
        groups: readGroups(payload, issuer),
        claims: readClaims(payload),
      },
      policy: issuer.policy,
      sessions: issuer.sessions,
      explain: issuer.explain,
      holds: () => this.#nowMs() < expiresMs,
      subject: () => ({ token, issuer: issuer.name }),
    }
    const untilMs = Math.min(expiresMs, this.#nowMs() + CHECKED_KEPT_MS)
    return { payload, issuer, caller, untilMs }
  }

  async #payload(token: string, issuer: Issuer): Promise<CheckedPayload> {
    try {
      const { payload } = await jwtVerify(token, this.#keysOf(issuer).find, {
        issuer: issuer.issuer,
        algorithms: [...issuer.algorithms],
        clockTolerance: CLOCK_SKEW_S,
        requiredClaims: ['exp', 'sub', 'aud'],
        currentDate: new Date(this.#nowMs()),
      })
      return checkTypes(payload)
    } catch (error) {
      if (error instanceof errors.JWTExpired) throw invalid('the token has expired')
      if (error instanceof errors.JOSEError)
        throw invalid(`the token cannot be verified: ${error.message}`)
      if (error instanceof KeysUnreachable) throw unreachable(error.message)
      throw error
    }
  }

  #keysOf(issuer: Issuer): IssuerKeys {
    const keys = this.#keys.get(issuer.issuer) ?? new IssuerKeys(issuer, this.#nowMs)
    this.#keys.set(issuer.issuer, keys)
    return keys
  }
}

/** Nothing of it is trusted: it only selects the keys to try. */
function readIssuer(token: string): string {
  try {
    const { iss } = decodeJwt(token) as { iss?: unknown }
    return typeof iss === 'string' ? iss : ''
  } catch {
    throw invalid('the token is not known here, and no JWT')
  }
}

/**
 * A signature proves who wrote the claims, not that they have the types of the standard: an array
 * that converts to the text of a name is not that name.
 */
function checkTypes(payload: JWTPayload): CheckedPayload {
  const { sub, aud, exp } = payload as Record<string, unknown>
  const audiences = typeof aud === 'string' ? [aud] : aud
  if (!Array.isArray(audiences) || !audiences.every((one) => typeof one === 'string'))
    throw invalid('the audience (`aud`) of the token is neither a text nor a list of texts')
  if (typeof sub !== 'string' || !SUBJECT.test(sub))
    throw invalid('the subject (`sub`) of the token is not a valid name')
  if (typeof exp !== 'number' || !Number.isFinite(exp))
    throw invalid('the expiry (`exp`) of the token is not a number')
  return { ...payload, sub, exp, aud: audiences }
}

/** The name of the person, by the claim that the configuration says. */
export function subjectOf(payload: JWTPayload, { subject = 'sub' }: Issuer): string {
  const name = payload[subject]
  if (typeof name === 'string' && SUBJECT.test(name)) return name
  throw invalid(`the claim \`${subject}\` of the token is not a valid name`)
}

function checkAudience(
  { aud }: CheckedPayload,
  also: string | undefined,
  audiences: readonly string[],
): void {
  const ours = also === undefined ? audiences : [...audiences, also]
  if (!aud.some((one) => ours.includes(one)))
    throw invalid(`the token is for another: its audience is not \`${audiences[0] ?? ''}\``)
}

function checkScopes(payload: JWTPayload, { scopes }: Issuer): void {
  const { scope, scp } = payload as { scope?: unknown; scp?: unknown }
  const texts = [scope, scp].flat().filter((one) => typeof one === 'string')
  const present = new Set(texts.flatMap((one) => one.split(' ')))
  const missing = scopes.find((one) => !present.has(one))
  if (missing === undefined) return
  throw new AuthenticationError(
    `the token lacks the scope \`${missing}\``,
    'ask for it when logging in',
    {
      error: 'insufficient_scope',
    },
  )
}

function readGroups(payload: JWTPayload, { groups }: Issuer): string[] {
  const named = listStrings(payload[groups])
  if (named.length <= GRANT_GROUPS_MAX) return named
  throw invalid(`the token names more than ${GRANT_GROUPS_MAX} groups`)
}

/** Reads the claims, but for integers that no double represents: no decision may use a rounded value. */
function readClaims(payload: JWTPayload): JsonObject {
  const text = JSON.stringify(payload, (_, value: JsonValue) =>
    typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)
      ? undefined
      : value,
  )
  return JSON.parse(text) as JsonObject
}

function invalid(message: string): AuthenticationError {
  return new AuthenticationError(message, 'log in again', { error: 'invalid_token' })
}

function unreachable(why: string): AuthenticationError {
  return new AuthenticationError(why, 'tokens cannot be checked now: try again', { isFault: true })
}
