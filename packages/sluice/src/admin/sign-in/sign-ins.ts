// Who is signed in: one-time codes, and the tokens that pages hold in their memory. Only hashes are
// kept, in memory; a restart of the gate signs everybody out. A person who is removed is signed out at once.

import { hash } from 'node:crypto'
import type { Person } from '../../core/person.ts'
import { createGateToken, ownTokenKind } from '../../identity/keys/gate-tokens.ts'
import { asPerson, type People, type StoredPerson } from '../../identity/people/people.ts'
import { ApiError } from '../http/errors.ts'
import { CODES_MAX, SIGN_IN_MS, SIGN_INS_MAX } from '../http/limits.ts'
import { ExpiringMap } from './expiring-map.ts'

interface SignInSession {
  readonly name: string
  /** Another PIN, or another person of the same name, signs out. */
  readonly of: string
  readonly proof: Person['proof']
  /** Who is not on the list of people, but signed in elsewhere. */
  readonly guest?: Person
  readonly sinceMs: number
  readonly untilMs: number
}

export interface ActiveSignIn {
  readonly person: Person
  readonly sinceMs: number
  readonly untilMs: number
}

const AGAIN = 'run `sluice console`, or sign in with a passkey'

export class SignIns {
  readonly #people: People
  readonly #nowMs: () => number
  readonly #codes: ExpiringMap<{ name: string; of: string; proof: Person['proof'] }>
  readonly #sessions: ExpiringMap<SignInSession>

  constructor(people: People, nowMs: () => number) {
    this.#people = people
    this.#nowMs = nowMs
    this.#codes = new ExpiringMap(CODES_MAX, nowMs)
    this.#sessions = new ExpiringMap(SIGN_INS_MAX, nowMs)
  }

  /** For somebody who has just shown who they are, or was invited by somebody who has. */
  makeCode(name: string, proof: Person['proof'], forMs: number): string {
    const code = createGateToken('code')
    this.#codes.put(hashSignInToken(code), { name, of: this.#of(name), proof }, forMs)
    return code
  }

  /** Once only. Throws ApiError. */
  redeem(code: string): { readonly token: string; readonly as: ActiveSignIn } {
    const found = this.#codes.take(hashSignInToken(code))
    const kept = found && this.#people.find(found.name)
    if (found === undefined || kept === undefined || found.of !== this.#of(found.name))
      throw new ApiError('API_SIGN_IN', 'the code is used up, too old, or none', AGAIN)
    return this.begin(asPerson(kept, found.proof))
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
    const session = { name, of: this.#of(name), proof, sinceMs, untilMs }
    this.#sessions.put(
      hashSignInToken(token),
      guestUntilMs === undefined ? session : { ...session, guest: person },
      untilMs - sinceMs,
    )
    return { token, as: { person, sinceMs, untilMs } }
  }

  /** Throws ApiError where the token lets nobody in. */
  who(token: string | undefined): ActiveSignIn {
    const kind = token === undefined ? undefined : ownTokenKind(token)
    const found =
      kind === 'in'
        ? this.#ofPage(token as string)
        : kind === 'sys'
          ? this.#ofSystem(token as string)
          : undefined
    if (found !== undefined) return found
    const why = token === undefined ? 'nobody is signed in' : 'the token is not known here'
    throw new ApiError('API_SIGN_IN', why, AGAIN)
  }

  end(token: string): void {
    this.#sessions.delete(hashSignInToken(token))
  }

  /** Everything that was begun in somebody's name. */
  endAllOf(name: string): void {
    this.#sessions.deleteWhere((session) => session.name === name)
    this.#codes.deleteWhere((code) => code.name === name)
  }

  #ofPage(token: string): ActiveSignIn | undefined {
    const session = this.#sessions.get(hashSignInToken(token))
    if (session === undefined) return undefined
    const { name, of, proof, guest, sinceMs, untilMs } = session
    // Roles may be others by now.
    const kept = this.#people.find(name)
    if (of !== ofKept(kept)) return undefined
    const person = guest ?? (kept && asPerson(kept, proof))
    return person && { person, sinceMs, untilMs }
  }

  #of(name: string): string {
    return ofKept(this.#people.find(name))
  }

  #ofSystem(token: string): ActiveSignIn | undefined {
    const person = this.#people.findByToken(token)
    const nowMs = this.#nowMs()
    return person && { person, sinceMs: nowMs, untilMs: nowMs + SIGN_IN_MS }
  }
}

function ofKept(person: StoredPerson | undefined): string {
  return person === undefined ? '' : `${person.createdMs} ${person.pinSetMs}`
}

function hashSignInToken(token: string): string {
  return hash('sha256', token, 'base64url')
}
