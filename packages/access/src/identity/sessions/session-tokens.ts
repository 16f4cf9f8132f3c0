// Session tokens: made by the gate, sent by a client with every HTTP request, so that its requests and MCP
// sessions are one session. A token is no credential: it selects a session of the principal that the request
// is authenticated as, and of nobody else. Nothing is kept of it: a MAC shows that it was made here.

import { randomBytes } from 'node:crypto'
import type { InstallationKey } from '../keys/installation-key.ts'
import { SignedToken } from '../keys/signed-token.ts'

const PREFIX = 'sluice_session_'

export class SessionTokens {
  readonly #signed: SignedToken

  constructor(key: InstallationKey) {
    this.#signed = new SignedToken(key, 'sessions', PREFIX)
  }

  make(): string {
    return this.#signed.make([randomBytes(16).toString('base64url')])
  }

  /** What the token names; undefined if it was not made here. */
  read(token: string): string | undefined {
    const [name] = this.#signed.read(token) ?? []
    return typeof name === 'string' ? name : undefined
  }
}
