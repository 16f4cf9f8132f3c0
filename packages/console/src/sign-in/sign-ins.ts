// Who is signed in: one-time codes, and the tokens that pages hold in their memory. Only hashes are
// kept: of codes in memory, of tokens in identity.db, so that a restart of the gate signs nobody out. A
// person who is removed is signed out at once.

import { hash } from 'node:crypto'
import { createGateToken, ownTokenKind } from '@sluice/access/identity/keys/gate-tokens'
import { asPerson, type People } from '@sluice/access/identity/people/people'
import { StoredSignIns } from '@sluice/access/identity/people/stored-sign-ins'
import type { Person } from '@sluice/access/identity/person'
import { ApiError } from '../http/errors.ts'
import { CODES_MAX, SIGN_IN_MS, SIGN_INS_MAX } from '../http/limits.ts'
import { ExpiringMap } from './expiring-map.ts'

export interface ActiveSignIn {
  readonly person: Person
  readonly sinceMs: number
  readonly untilMs: number
}

interface IssuedCode {
  readonly name: string
  readonly basis: string
  readonly proof: Person['proof']
  /** Only for a browser of the user who runs the gate. */
  readonly isOwnUsers: boolean
}

const AGAIN = 'run `sluice console`, or sign in with a passkey'

export class SignIns {
  readonly #people: People
  readonly #nowMs: () => number
  readonly #codes: ExpiringMap<IssuedCode>
  readonly #issuers: string
  readonly #sessions: StoredSignIns

  /** `issuers`: what gives guests their roles, as configured; if it changes, guests sign in again. */
  constructor(people: People, nowMs: () => number, issuers: readonly object[] = []) {
    this.#people = people
    this.#nowMs = nowMs
    this.#codes = new ExpiringMap(CODES_MAX, nowMs)
    this.#issuers = hash('sha256', JSON.stringify(issuers), 'base64url')
    this.#sessions = new StoredSignIns(people, SIGN_INS_MAX)
  }

  /** For somebody who has just shown who they are, or was invited by somebody who has. */
  makeCode(name: string, proof: Person['proof'], forMs: number, isOwnUsers = false): string {
    const code = createGateToken('code')
    const basis = this.#basis(name, null)
    this.#codes.put(toKey(code), { name, basis, proof, isOwnUsers }, forMs)
    return code
  }

  /** Once only. Throws ApiError. */
  async redeem(
    code: string,
    isOtherUser: () => Promise<boolean>,
  ): Promise<{ readonly token: string; readonly as: ActiveSignIn }> {
    // Not used up by a stranger, either.
    if (this.#codes.get(toKey(code))?.isOwnUsers === true && (await isOtherUser()))
      throw new ApiError(
        'API_SIGN_IN',
        'the code is for a browser of the user who runs the gate',
        'run `sluice console --no-open`, and open what it prints',
      )
    const issued = this.#codes.take(toKey(code))
    const person = issued && this.#people.find(issued.name)
    if (
      issued === undefined ||
      person === undefined ||
      issued.basis !== this.#basis(issued.name, null)
    )
      throw new ApiError('API_SIGN_IN', 'the code is used up, too old, or none', AGAIN)
    return this.begin(asPerson(person, issued.proof))
  }

  /** `guest`: somebody of an authorisation server, until their token ends. */
  begin(
    person: Person,
    guestUntilMs?: number,
  ): { readonly token: string; readonly as: ActiveSignIn } {
    const token = createGateToken('in')
    const sinceMs = this.#nowMs()
    const untilMs = Math.min(sinceMs + SIGN_IN_MS, guestUntilMs ?? Number.POSITIVE_INFINITY)
    const { name, proof } = person
    const guest = guestUntilMs === undefined ? null : person
    const basis = this.#basis(name, guest)
    this.#sessions.add(hashToken(token), { name, basis, proof, guest, sinceMs, untilMs })
    return { token, as: { person, sinceMs, untilMs } }
  }

  /** Throws ApiError where the token lets nobody in. */
  who(token: string | undefined): ActiveSignIn {
    const kind = token === undefined ? undefined : ownTokenKind(token)
    const active =
      kind === 'in'
        ? this.#ofPage(token as string)
        : kind === 'sys'
          ? this.#ofSystem(token as string)
          : undefined
    if (active !== undefined) return active
    const why = token === undefined ? 'nobody is signed in' : 'the token is not known here'
    throw new ApiError('API_SIGN_IN', why, AGAIN)
  }

  end(token: string): void {
    this.#sessions.remove(hashToken(token))
  }

  /** Everything that was begun in somebody's name. */
  endAllOf(name: string): void {
    this.#sessions.removeAllOf(name)
    this.#codes.keepAtMost(0, (code) => code.name === name)
  }

  #ofPage(token: string): ActiveSignIn | undefined {
    const session = this.#sessions.find(hashToken(token), this.#nowMs())
    if (session === undefined) return undefined
    const { name, basis, proof, guest, sinceMs, untilMs } = session
    if (basis !== this.#basis(name, guest)) return undefined
    // Roles may be others by now.
    const stored = this.#people.find(name)
    const person = guest ?? (stored && asPerson(stored, proof))
    return person && { person, sinceMs, untilMs }
  }

  /** What a sign-in depends on: the person and their PIN, or what gave a guest the roles. */
  #basis(name: string, guest: Person | null): string {
    const person = this.#people.find(name)
    const self = person === undefined ? '' : `${person.createdMs} ${person.pinSetMs}`
    return guest === null ? self : `${this.#issuers} ${self}`
  }

  #ofSystem(token: string): ActiveSignIn | undefined {
    const person = this.#people.findByToken(token)
    const nowMs = this.#nowMs()
    return person && { person, sinceMs: nowMs, untilMs: nowMs + SIGN_IN_MS }
  }
}

function toKey(code: string): string {
  return hashToken(code).toString('base64url')
}

function hashToken(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}
