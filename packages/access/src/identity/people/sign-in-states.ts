// The state parameter of a sign-in at an authorisation server: which issuer, which page, and the
// hash of a secret that only the tab that started it has. A response is accepted once, in time, and
// from that tab: a victim led here with an attacker's response has no such secret (login CSRF).

import { createHmac, hash } from 'node:crypto'
import { LruMap } from '@sluice/policy/structures/lru-map'
import type { InstallationKey } from '../keys/installation-key.ts'
import { SignedToken } from '../keys/signed-token.ts'
import { SIGN_IN_STATES_USED_MAX, SIGN_IN_THERE_MS } from '../limits.ts'

export interface SignInAttempt {
  /** The name of the issuer in sluice.yaml. */
  readonly issuer: string
  /** The origin of the page that started it, and that the response returns to. */
  readonly origin: string
  /** S256 of the tab's secret (RFC 7636). */
  readonly challenge: string
}

export class SignInStates {
  readonly #sealed: SignedToken
  readonly #nonces: Buffer
  readonly #nowMs: () => number
  readonly #used = new LruMap<string, true>(SIGN_IN_STATES_USED_MAX)

  constructor(key: InstallationKey, nowMs: () => number) {
    this.#sealed = new SignedToken(key, 'sign-in states', 'sluice_state_')
    this.#nonces = key.derive('sign-in nonces', 32)
    this.#nowMs = nowMs
  }

  make({ issuer, origin, challenge }: SignInAttempt): string {
    return this.#sealed.make([issuer, origin, challenge, this.#nowMs() + SIGN_IN_THERE_MS])
  }

  /**
   * What the ID token has to repeat. Derived from the state, so that a code of another sign-in is
   * useless even if the authorisation server ignores PKCE.
   */
  getNonce(state: string): string {
    return createHmac('sha256', this.#nonces).update(state).digest('base64url')
  }

  /** At most once; returns the reason as text if it is not accepted. */
  take(state: string, verifier: string, origin: string): SignInAttempt | string {
    const payload = this.#sealed.read(state)
    if (payload === undefined) return 'the answer belongs to no sign-in of this gate'
    const [issuer, began, challenge, untilMs] = payload as [string, string, string, number]
    if (this.#nowMs() >= untilMs) return 'the sign-in took too long'
    if (began !== origin) return `the sign-in began at \`${began}\``
    if (hashVerifier(verifier) !== challenge) return 'the sign-in began in another tab'
    if (this.#used.has(state)) return 'the sign-in was used already'
    this.#used.set(state, true)
    return { issuer, origin, challenge }
  }
}

export function hashVerifier(verifier: string): string {
  return hash('sha256', verifier, 'base64url')
}
