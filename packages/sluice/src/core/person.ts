// People, and systems that a person made approvers: who may decide over held calls, the policy,
// grants and the freeze. Callers are principals and something else (identity/caller.ts): an agent
// calls as its owner's principal, and must never be taken for the owner.

import type { JsonObject } from '@sluice/policy/core/json'

import { foldLookAlikes } from './look-alikes.ts'

export const ROLES = ['viewer', 'approver', 'policy-manager', 'admin'] as const
export type Role = (typeof ROLES)[number]

/** How it was shown that a person speaks. `client` is the caller's own word, unverified. */
export type ProofMethod = 'passkey' | 'pin' | 'token' | 'oauth' | 'client'

export interface Person {
  /** On the record beside what was decided. */
  readonly name: string
  readonly kind: 'person' | 'system'
  readonly roles: readonly Role[]
  readonly groups: readonly string[]
  /** Principals that are this person's own (their agents call as these): separation of duties. */
  readonly owns: readonly string[]
  readonly proof: ProofMethod
}

/** What travels beside a request over the control socket: the PIN that a person typed at the
 * terminal device, and whose it is where there are several. */
export interface PinProof {
  readonly name?: string
  readonly pin: string
}

/** One form for all spellings of a name that people take for one: case, compatibility forms, letters of
 * other scripts that look alike; dots, dashes, `_` and `@` are ignored. Two names with one form count as one person. Who
 * signs in elsewhere (`<issuer>:<subject>`) is who that issuer says: subjects are taken as they are. */
export function canonicalName(name: string): string {
  if (name.includes(':')) return name
  const folded = foldLookAlikes(foldLookAlikes(name).toUpperCase().toLowerCase())
  return folded
    .toLowerCase()
    .replace(/[1i|]/g, 'l')
    .replaceAll('0', 'o')
    .replace(/[._@-]/g, '')
}

/** Whether a role is held: an admin holds all, and everybody who may do something may look. */
export function hasRole(person: Pick<Person, 'roles'>, role: Role): boolean {
  return role === 'viewer'
    ? person.roles.length > 0
    : person.roles.includes(role) || person.roles.includes('admin')
}

/** How a person is named on the record. */
export function toActor({ name, kind, proof }: Person): JsonObject {
  return { name, kind, proof }
}
