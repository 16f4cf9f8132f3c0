// What passkeys sign. For a decision that is the hash of the very request with a fresh number: the
// assertion is worth nothing for another request, and nothing a second time. An agent that holds a
// page's token can neither make one nor change what was signed.

import { hash, randomBytes } from 'node:crypto'
import type { Passkeys, RelyingParty } from '@sluice/access/identity/people/passkeys'
import type { Person } from '@sluice/access/identity/person'
import { attempt } from '@sluice/policy/structures/attempt'
import { OperationError } from '@sluice/policy/structures/operation-error'
import { ApiError } from '../http/errors.ts'
import { CHALLENGE_MS, CHALLENGES_MAX, CHALLENGES_PER_PERSON_MAX } from '../http/limits.ts'
import { ExpiringMap } from './expiring-map.ts'
import { SignInChallenges } from './sign-in-challenges.ts'

/** What is going to be asked for; `body` is the very text. */
export interface SignedAction {
  readonly method: string
  readonly path: string
  readonly body: string
}

interface IssuedChallenge {
  readonly person: string
  readonly use: 'register' | 'action'
  /** The hash of the action with its number; empty elsewhere. */
  readonly digest: string
  readonly nonce: string
}

export class Challenges {
  readonly #passkeys: Passkeys
  readonly #nowMs: () => number
  /** By the challenge itself, as base64url. */
  readonly #issued: ExpiringMap<IssuedChallenge>
  readonly #signIns: SignInChallenges

  constructor(passkeys: Passkeys, nowMs: () => number) {
    this.#passkeys = passkeys
    this.#nowMs = nowMs
    this.#issued = new ExpiringMap(CHALLENGES_MAX, nowMs)
    this.#signIns = new SignInChallenges(nowMs)
  }

  /** `person`: only this one's keys will do. */
  forSignIn(rp: RelyingParty, person?: string): Promise<object> {
    return this.#passkeys.assertionOptions(rp, this.#signIns.make(person), person)
  }

  async forRegistration(person: string, rp: RelyingParty): Promise<object> {
    const options = await this.#passkeys.registrationOptions(person, rp)
    const issued: IssuedChallenge = { person, use: 'register', digest: '', nonce: '' }
    this.#give(options.challenge, issued)
    return options
  }

  forAction(person: Person, action: SignedAction, rp: RelyingParty): Promise<object> {
    if (this.#passkeys.list(person.name, rp.id).length === 0)
      throw new ApiError(
        'API_PROOF',
        `\`${person.name}\` has no passkey for ${rp.origin}`,
        'add one on this page first; it asks for your PIN',
      )
    const nonce = randomBytes(16).toString('base64url')
    const digest = digestAction(action, person.name, nonce)
    const issued: IssuedChallenge = {
      person: person.name,
      use: 'action',
      digest: text(digest),
      nonce,
    }
    this.#give(text(digest), issued)
    return this.#passkeys.assertionOptions(rp, digest, person.name)
  }

  /** One person's page, or a program with its token, must not push out what another is to sign. */
  #give(challenge: string, issued: IssuedChallenge): void {
    this.#issued.keepAtMost(CHALLENGES_PER_PERSON_MAX - 1, ({ person }) => person === issued.person)
    this.#issued.put(challenge, issued, CHALLENGE_MS)
  }

  /** The name of who signed in. Throws ApiError or Refused. */
  async signIn(assertion: unknown, rp: RelyingParty): Promise<string> {
    const challenge = challengeIn(assertion)
    const given = this.#signIns.read(challenge)
    if (given === undefined) throw createVoidError()
    const name = await this.#passkeys.verify(rp, assertion, challenge, this.#nowMs())
    if (!this.#signIns.use(challenge)) throw createVoidError()
    if (given.person === undefined || given.person === name) return name
    throw new ApiError('API_SIGN_IN', `the link is for \`${given.person}\``, 'sign in by yourself')
  }

  /** The challenge that a registration answers. */
  registering(person: string, attestation: unknown): string {
    const { challenge, issued: given } = this.#take(attestation, 'register')
    if (given.person === person) return challenge
    throw new ApiError('API_PROOF', 'the challenge was for another', 'begin again')
  }

  /** The same person, now with the proof. Throws ApiError. */
  async prove(
    person: Person,
    assertion: unknown,
    action: SignedAction,
    rp: RelyingParty,
  ): Promise<Person> {
    const { challenge, issued: given } = this.#take(assertion, 'action')
    // Also if the hash was given out for another request of the same person.
    const expected = text(digestAction(action, person.name, given.nonce))
    if (given.person !== person.name || expected !== given.digest)
      throw new ApiError('API_PROOF', 'the passkey was asked for something else', 'begin again')
    const shown = await this.#passkeys.verify(rp, assertion, challenge, this.#nowMs()).catch(refuse)
    if (shown === person.name) return { ...person, proof: 'passkey' }
    throw new ApiError('API_PROOF', 'the passkey is of another person', 'sign in as that one')
  }

  /** Used up by the first attempt, whether it succeeds or not. */
  #take(
    answer: unknown,
    use: IssuedChallenge['use'],
  ): { challenge: string; issued: IssuedChallenge } {
    const challenge = challengeIn(answer)
    const issued = this.#issued.take(challenge)
    if (issued?.use === use) return { challenge, issued }
    throw createVoidError()
  }
}

function createVoidError(): ApiError {
  return new ApiError('API_PROOF', 'the challenge is used up, too old, or none', 'begin again')
}

/** Lengths before the parts: no body can be spelt so as to be another's path. */
function digestAction({ method, path, body }: SignedAction, person: string, nonce: string): Buffer {
  const parts = ['sluice action 1', nonce, person, method, path, body]
  return hash('sha256', JSON.stringify(parts), 'buffer')
}

/** What the authenticator says it signed; believed only once the signature is verified. */
function challengeIn(answer: unknown): string {
  const { response } = (answer ?? {}) as { response?: { clientDataJSON?: unknown } }
  const text = Buffer.from(String(response?.clientDataJSON), 'base64url').toString()
  return attempt(() => String((JSON.parse(text) as { challenge?: unknown }).challenge), '')
}

function text(bytes: Buffer): string {
  return bytes.toString('base64url')
}

function refuse(error: Error): never {
  if (error instanceof OperationError) throw new ApiError('API_PROOF', error.message, error.help)
  throw error
}
