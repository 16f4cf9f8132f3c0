// Tokens that the gate issues and verifies: readable by anyone and modifiable by no one, since they
// start with a MAC under a key of the installation. So nothing has to be stored, and requesting
// many of them evicts nothing. Used by approval-links.ts and sign-in-states.ts.

import { createHmac, timingSafeEqual } from 'node:crypto'
import type { JsonValue } from '@sluice/policy/values/json'
import type { InstallationKey, KeyPurpose } from './installation-key.ts'

const MAC_BYTES = 24
const SEALED_LENGTH_MAX = 1_000

export class SignedToken {
  readonly #key: Buffer
  readonly #prefix: string

  /** Each purpose has its own key: a token for one is invalid for another. */
  constructor(key: InstallationKey, purpose: KeyPurpose, prefix: string) {
    this.#key = key.derive(purpose, 32)
    this.#prefix = prefix
  }

  make(says: readonly JsonValue[]): string {
    const payload = Buffer.from(JSON.stringify(says))
    return this.#prefix + Buffer.concat([this.#mac(payload), payload]).toString('base64url')
  }

  /** The values that the token was made with; undefined if this installation has not made it. */
  read(text: string): readonly JsonValue[] | undefined {
    if (!text.startsWith(this.#prefix) || text.length > SEALED_LENGTH_MAX) return undefined
    const encoded = text.slice(this.#prefix.length)
    const bytes = Buffer.from(encoded, 'base64url')
    // Base64url can spell the same bytes differently: that would be a second token to a caller that counts uses.
    if (bytes.length <= MAC_BYTES || bytes.toString('base64url') !== encoded) return undefined
    const payload = bytes.subarray(MAC_BYTES)
    if (!timingSafeEqual(bytes.subarray(0, MAC_BYTES), this.#mac(payload))) return undefined
    return JSON.parse(payload.toString()) as JsonValue[]
  }

  #mac(payload: Buffer): Buffer {
    return createHmac('sha256', this.#key).update(payload).digest().subarray(0, MAC_BYTES)
  }
}
