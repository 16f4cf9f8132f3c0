// Texts that the gate gives away and knows again: what is in them can be read by anybody and changed by
// nobody, since a MAC with a key of the installation stands before it. So nothing has to be kept, and
// nobody can push anything out by asking for many. Used by links.ts and sign-in-states.ts.

import { createHmac, timingSafeEqual } from 'node:crypto'
import type { JsonValue } from '@sluice/policy/core/json'
import type { InstallationKey, KeyPurpose } from './installation-key.ts'

const MAC_BYTES = 24
const SEALED_LENGTH_MAX = 1_000

export class SignedToken {
  readonly #key: Buffer
  readonly #prefix: string

  /** A purpose has a key of its own: what was made for one is nothing to another. */
  constructor(key: InstallationKey, purpose: KeyPurpose, prefix: string) {
    this.#key = key.derive(purpose, 32)
    this.#prefix = prefix
  }

  make(says: readonly JsonValue[]): string {
    const said = Buffer.from(JSON.stringify(says))
    return this.#prefix + Buffer.concat([this.#mac(said), said]).toString('base64url')
  }

  /** Undefined for what was not made here. */
  read(text: string): readonly JsonValue[] | undefined {
    if (!text.startsWith(this.#prefix) || text.length > SEALED_LENGTH_MAX) return undefined
    const bytes = Buffer.from(text.slice(this.#prefix.length), 'base64url')
    if (bytes.length <= MAC_BYTES) return undefined
    const said = bytes.subarray(MAC_BYTES)
    if (!timingSafeEqual(bytes.subarray(0, MAC_BYTES), this.#mac(said))) return undefined
    return JSON.parse(said.toString()) as JsonValue[]
  }

  #mac(said: Buffer): Buffer {
    return createHmac('sha256', this.#key).update(said).digest().subarray(0, MAC_BYTES)
  }
}
