// Signing in at an authorisation server from the page: where the browser goes, and who it was that came
// back. The page holds a secret in its tab and brings it along with the answer; the gate exchanges the
// code, so the page never has a token of that server. Called by the endpoints of sign-in.

import type { AccessTokenVerifier } from '../../identity/callers/access-token-verifier.ts'
import type { Issuer } from '../../identity/callers/issuer.ts'
import type { InstallationKey } from '../../identity/keys/installation-key.ts'
import { OidcSignIn } from '../../identity/people/oidc-sign-in.ts'
import { SignInStates } from '../../identity/people/sign-in-states.ts'
import type { ExternalSignInStart, IssuerAnswer } from '../contract/contract.ts'
import { ApiError } from '../http/errors.ts'
import { EXCHANGES_MAX, GUEST_MS } from '../http/limits.ts'
import { type ExternalPerson, personOf, refuse } from './external-people.ts'

export interface ExternalSignInParts {
  /** Those that give roles. */
  readonly issuers: readonly Issuer[]
  /** Loaded with the first who needs it. */
  readonly tokens: () => Promise<AccessTokenVerifier>
  readonly key: InstallationKey
  readonly nowMs: () => number
}

export class ExternalSignIn {
  readonly #parts: ExternalSignInParts
  readonly #states: SignInStates
  readonly #flows = new Map<string, OidcSignIn>()
  #exchanging = 0

  constructor(parts: ExternalSignInParts) {
    this.#parts = parts
    this.#states = new SignInStates(parts.key, parts.nowMs)
  }

  /** `origin` is that of the page. Throws ApiError. */
  async begin(name: string, challenge: string, origin: string): Promise<ExternalSignInStart> {
    const flow = await this.#flowOf(name)
    const state = this.#states.make({ issuer: name, origin, challenge })
    const request = { redirect: redirectOf(name, origin), nonce: this.#states.getNonce(state) }
    const address = await flow.address({ ...request, state, challenge }).catch(refuse)
    return { address, state }
  }

  /** Throws ApiError. */
  async finish(
    { state, code, iss, verifier }: IssuerAnswer,
    origin: string,
  ): Promise<ExternalPerson> {
    const begun = this.#states.take(state, verifier, origin)
    if (typeof begun === 'string')
      throw new ApiError('API_SIGN_IN', begun, 'begin again on this page')
    const flow = await this.#flowOf(begun.issuer)
    // Requests with made-up codes must not make the gate flood that server.
    if (this.#exchanging >= EXCHANGES_MAX)
      throw new ApiError('API_LIMIT', 'too many sign in just now', 'try again')
    this.#exchanging++
    try {
      const redirect = redirectOf(begun.issuer, origin)
      const answer = { redirect, nonce: this.#states.getNonce(state), code, verifier, from: iss }
      const { subject, groups } = await flow.finish(answer).catch(refuse)
      const person = personOf(flow.issuer, subject, groups)
      return { person, untilMs: this.#parts.nowMs() + GUEST_MS }
    } finally {
      this.#exchanging--
    }
  }

  async #flowOf(name: string): Promise<OidcSignIn> {
    const known = this.#flows.get(name)
    if (known !== undefined) return known
    const { issuers, tokens, nowMs } = this.#parts
    const issuer = issuers.find((one) => one.name === name)
    if (issuer?.console === undefined)
      throw new ApiError(
        'API_NOT_FOUND',
        `nobody signs in at \`${name.slice(0, 64)}\` from this page`,
        'sluice.yaml says where: `auth.issuers.NAME.console`',
      )
    const flow = new OidcSignIn(issuer, issuer.console, await tokens(), nowMs)
    this.#flows.set(name, flow)
    return flow
  }
}

/** One for each issuer: an answer that comes to another's is not taken for it (mix-up). */
function redirectOf(name: string, origin: string): string {
  return `${origin}/sign-in/${name}`
}
