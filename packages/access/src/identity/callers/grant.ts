// A grant and its token. The token is 256 random bits after a prefix that secret scanners can
// detect; only its SHA-256 is stored, and the start of that is the grant's id. Pure except for
// randomness.

import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Secret } from '../oauth/secret-text.ts'

/** Who has the secret is the agent. */
export interface AcsKey {
  /** The server that stands for the agent. */
  readonly server: string
  /** Read at each request, so that a rotated one counts at once. */
  readonly secret: Secret
}

/** What a grant is to be, before it has a token. */
export interface GrantTerms {
  readonly name: string
  readonly policy: string
  /** `sessions.max`. */
  readonly slots: number
  /** `sessions.window`; undefined: that of the configuration. */
  readonly windowMs?: number
  readonly groups: readonly string[]
  /** Denials name the rule and the remaining quota. */
  readonly explain: boolean
  /** Its client may say what the user asked for. */
  readonly canSayPrompt?: boolean
  /** The server of the client whose hooks it is for: it opens nothing else. */
  readonly hooks?: string
  /** The key of an agent that asks by the Agent Control Standard: it opens `/acs` and nothing else. */
  readonly acs?: AcsKey
  /** When it ends; undefined or null: when it is revoked. */
  readonly untilMs?: number | null
}

/** A grant as it is configured in sluice.yaml. */
export interface FixedGrant extends GrantTerms {
  /** SHA-256 of the token. */
  readonly hash: Buffer
}

export interface Grant extends FixedGrant {
  readonly id: string
  /** From sluice.yaml: can be revoked only there. */
  readonly isFixed: boolean
  readonly createdMs: number | null
  readonly lastUsedMs: number | null
  readonly revokedMs: number | null
}

const PREFIX = 'sluice_'
const TOKEN = /^sluice_[0-9a-f]{64}$/
const ID_LENGTH = 16

export function hasGrantEnded({ untilMs }: FixedGrant, nowMs: number): boolean {
  return typeof untilMs === 'number' && nowMs >= untilMs
}

/** Whether a grant is neither revoked nor at its end. */
export function isGrantValid(grant: Grant, nowMs: number): boolean {
  return grant.revokedMs === null && !hasGrantEnded(grant, nowMs)
}

/** Null if it was not revoked, or had ended before: that is only marked as well, so that it does not
 * come back if the clock is set back. */
export function getRevocationMs({ revokedMs, untilMs }: Grant): number | null {
  const hasEndedBefore = revokedMs !== null && typeof untilMs === 'number' && revokedMs > untilMs
  return hasEndedBefore ? null : revokedMs
}

export function makeToken(): string {
  return PREFIX + randomBytes(32).toString('hex')
}

/** Returns undefined if it cannot be a grant's token, such as one of an authorisation server. */
export function hashGrantToken(token: string): Buffer | undefined {
  return TOKEN.test(token) ? hash('sha256', token, 'buffer') : undefined
}

/** Identifies a grant; not a secret, since no token can be computed from a hash. */
export function toGrantId(digest: Buffer): string {
  return digest.toString('hex', 0, ID_LENGTH / 2)
}

export function matchesGrant(grant: Grant, digest: Buffer): boolean {
  return grant.hash.length === digest.length && timingSafeEqual(grant.hash, digest)
}
