// People, and systems that a person declared as approvers: who may decide on approval requests, the
// policy, grants and freezes. Callers are principals, a separate concept
// (identity/callers/caller.ts): an agent calls as its owner's principal, and must never be mistaken
// for the owner.

import { foldLookAlikes } from '@sluice/guard/show/look-alikes'
import { word } from '@sluice/policy/document/build-shape'
import type { ShapeValue } from '@sluice/policy/document/shape'
import type { JsonObject } from '@sluice/policy/values/json'
import { COUNT, FLAG, fieldsOf, listOf, orNull, TEXT, TIME } from './answer-shapes.ts'

export const ROLES = ['viewer', 'approver', 'policy-manager', 'admin'] as const
export type Role = (typeof ROLES)[number]

/** How the person was authenticated. `client` is the caller's own claim, unverified. */
export const PROOFS = ['passkey', 'pin', 'token', 'oauth', 'client'] as const
export type ProofMethod = (typeof PROOFS)[number]

/** A person without the proof method, which differs every time. */
export interface Approver {
  /** Recorded in the ledger with the decision. */
  readonly name: string
  readonly kind: 'person' | 'system'
  readonly roles: readonly Role[]
  readonly groups: readonly string[]
  /** Principals that belong to this person (their agents call as these): separation of duties. */
  readonly owns: readonly string[]
}

export interface Person extends Approver {
  readonly proof: ProofMethod
}

/** An approver as lists and answers show one: never anything of a PIN or a token. */
export const PERSON_VIEW = fieldsOf({
  name: TEXT,
  kind: word(['person', 'system']),
  roles: listOf(word(ROLES)),
  groups: listOf(TEXT),
  owns: listOf(TEXT),
  since: TIME,
  pinSet: orNull(TIME),
  passkeys: COUNT,
  token: FLAG,
  wrongPins: COUNT,
  pausedUntil: orNull(TIME),
})
export const PEOPLE_LIST = fieldsOf({ people: listOf(PERSON_VIEW), anybody: FLAG })
export type PersonView = ShapeValue<typeof PERSON_VIEW>
export type PeopleList = ShapeValue<typeof PEOPLE_LIST>

/** Stands for anyone who asks for what needs neither role nor proof. */
export const NOBODY: Person = {
  name: '',
  kind: 'person',
  roles: [],
  groups: [],
  owns: [],
  proof: 'client',
}

/**
 * Sent with a request over the control socket: the PIN that a person typed at the terminal device,
 * and its owner if there are several.
 */
export interface PinProof {
  readonly name?: string
  readonly pin: string
}

/**
 * One form for all spellings of a name that people would confuse: case, compatibility forms,
 * letters of other scripts that look alike; dots, dashes, `_` and `@` are ignored. Two names with
 * one form count as one person. External identities (`<issuer>:<subject>`) are unchanged: the
 * issuer vouches for the subject.
 */
export function canonicalName(name: string): string {
  if (name.includes(':')) return name
  const folded = foldLookAlikes(foldLookAlikes(name).toUpperCase().toLowerCase())
  return folded
    .toLowerCase()
    .replace(/[1i|]/g, 'l')
    .replaceAll('0', 'o')
    .replace(/[._@-]/g, '')
}

/** Whether a person has a role: an admin has all, and every role includes viewing. */
export function hasRole(person: Pick<Person, 'roles'>, role: Role): boolean {
  return role === 'viewer'
    ? person.roles.length > 0
    : person.roles.includes(role) || person.roles.includes('admin')
}

/** How a person is named in the ledger. */
export function toActor({ name, kind, proof }: Person): JsonObject {
  return { name, kind, proof }
}
