// Challenges for signing in with a passkey, which anyone may ask for. Each carries whom it is for and its
// end, under a MAC: nothing is stored when one is made, so a flood of requests pushes nobody's out. Only
// one that a passkey has signed is remembered, so that it signs in once.

import { randomBytes } from 'node:crypto'
import { InstallationKey } from '@sluice/access/identity/keys/installation-key'
import { SignedToken } from '@sluice/access/identity/keys/signed-token'
import { CHALLENGE_MS, CHALLENGES_MAX } from '../http/limits.ts'
import { ExpiringMap } from './expiring-map.ts'

/** Whom a challenge was made for. */
export interface ChallengeSubject {
  /** Undefined if anybody may sign in with it. */
  readonly person: string | undefined
}

export class SignInChallenges {
  /** Of this process: a restart makes all of them void. */
  readonly #signed = new SignedToken(new InstallationKey(randomBytes(32)), 'sign-in challenges', '')
  readonly #nowMs: () => number
  readonly #used: ExpiringMap<true>

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
    this.#used = new ExpiringMap(CHALLENGES_MAX, nowMs)
  }

  make(person: string | undefined): Buffer {
    const nonce = randomBytes(16).toString('base64url')
    const untilMs = this.#nowMs() + CHALLENGE_MS
    return Buffer.from(this.#signed.make([nonce, untilMs, person ?? null]), 'base64url')
  }

  /**
   * `challenge` is base64url. Undefined if it is not of this gate, too old, or used.
   */
  read(challenge: string): ChallengeSubject | undefined {
    const payload = this.#signed.read(challenge)
    if (payload === undefined) return undefined
    const [, untilMs, person] = payload as [string, number, string | null]
    if (this.#nowMs() >= untilMs || this.#used.get(challenge) === true) return undefined
    return { person: person ?? undefined }
  }

  /** After a passkey has signed it: false if another was faster. */
  use(challenge: string): boolean {
    if (this.#used.get(challenge) === true) return false
    this.#used.put(challenge, true, CHALLENGE_MS)
    return true
  }
}
