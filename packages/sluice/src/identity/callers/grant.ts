// A grant and its token. The token is 256 random bits behind a prefix that secret scanners can look
// for; only its SHA-256 is kept, and the beginning of that is the grant's id. Pure but for randomness.

import { hash, randomBytes, timingSafeEqual } from 'node:crypto'

/** As sluice.yaml fixes it. */
export interface FixedGrant {
  readonly name: string
  /** SHA-256 of the token. */
  readonly hash: Buffer
  readonly policy: string
  /** `sessions.max`. */
  readonly slots: number
  /** `sessions.window`; undefined: that of the configuration. */
  readonly windowMs?: number
  readonly groups: readonly string[]
  /** Denials name the rule and what is left. */
  readonly explain: boolean
}

export interface Grant extends FixedGrant {
  readonly id: string
  /** From sluice.yaml: not to be revoked but there. */
  readonly isFixed: boolean
  readonly createdMs: number | null
  readonly lastUsedMs: number | null
  readonly revokedMs: number | null
}

const PREFIX = 'sluice_'
const TOKEN = /^sluice_[0-9a-f]{64}$/
const ID_LENGTH = 16

export function makeToken(): string {
  return PREFIX + randomBytes(32).toString('hex')
}

/** Undefined for what cannot be a grant's token, such as one of an authorisation server. */
export function hashGrantToken(token: string): Buffer | undefined {
  return TOKEN.test(token) ? hash('sha256', token, 'buffer') : undefined
}

/** The way to a grant; knowing it is of no use, since nobody can make a token for a hash. */
export function toGrantId(digest: Buffer): string {
  return digest.toString('hex', 0, ID_LENGTH / 2)
}

export function matchesGrant(grant: Grant, digest: Buffer): boolean {
  return grant.hash.length === digest.length && timingSafeEqual(grant.hash, digest)
}
