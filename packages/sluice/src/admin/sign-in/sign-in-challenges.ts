// Challenges for signing in with a passkey, which anyone may ask for. Each carries whom it is for and its
// end, under a MAC: nothing is stored when one is made, so a flood of requests pushes nobody's out. Only
// one that a passkey has signed is remembered, so that it signs in once.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { CHALLENGE_MS, CHALLENGES_MAX } from '../http/limits.ts'
import { ExpiringMap } from './expiring-map.ts'

const MAC_BYTES = 32

export interface SignInChallenge {
  /** Undefined if anybody may sign in. */
  readonly person: string | undefined
}

export class SignInChallenges {
  /** Of this process: a restart makes all of them void. */
  readonly #key = randomBytes(MAC_BYTES)
  readonly #nowMs: () => number
  readonly #used: ExpiringMap<true>

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
    this.#used = new ExpiringMap(CHALLENGES_MAX, nowMs)
  }

  make(person: string | undefined): Buffer {
    const nonce = randomBytes(16).toString('base64url')
    const content = JSON.stringify([nonce, this.#nowMs() + CHALLENGE_MS, person ?? null])
    return Buffer.concat([this.#mac(content), Buffer.from(content)])
  }

  /** `challenge` as base64url. Undefined if it is not of this gate, too old, or used. */
  read(challenge: string): SignInChallenge | undefined {
    const bytes = Buffer.from(challenge, 'base64url')
    // One text for each: the same bytes in another spelling would be good once more.
    if (bytes.length <= MAC_BYTES || bytes.toString('base64url') !== challenge) return undefined
    const content = bytes.subarray(MAC_BYTES).toString()
    if (!timingSafeEqual(bytes.subarray(0, MAC_BYTES), this.#mac(content))) return undefined
    const [, untilMs, person] = JSON.parse(content) as [string, number, string | null]
    if (this.#nowMs() >= untilMs || this.#used.get(challenge) === true) return undefined
    return { person: person ?? undefined }
  }

  /** After a passkey has signed it: false if another was faster. */
  use(challenge: string): boolean {
    if (this.#used.get(challenge) === true) return false
    this.#used.put(challenge, true, CHALLENGE_MS)
    return true
  }

  #mac(content: string): Buffer {
    return createHmac('sha256', this.#key).update(content).digest()
  }
}
