// Seals handles of servers (sessions, cursors, tasks, requestState, subscriptions) for clients:
// bound to one kind, server and principal, and optionally to one call. A server knows the gate by
// one credential, so an unsealed handle of A's would work for B. Deterministic (a MAC that is also
// the IV): one handle has one sealed text, which clients compare.

import { createCipheriv, createDecipheriv, createHmac, timingSafeEqual } from 'node:crypto'
import { IdentityError } from '../errors.ts'
import { HANDLE_BYTES_MAX } from '../limits.ts'
import type { InstallationKey } from './installation-key.ts'

export type SealKind = 'session' | 'cursor' | 'task' | 'requestState' | 'held' | 'subscription'

/** Whom a handle is for: everything here must be the same when it is opened. */
export interface SealBinding {
  readonly server: string
  readonly principal: string
  /** The call that a retry continues. */
  readonly call?: string | undefined
}

const PREFIX = 's1.'
const TAG_BYTES = 16
const SEALED_LENGTH_MAX = PREFIX.length + Math.ceil(((TAG_BYTES + HANDLE_BYTES_MAX) * 4) / 3)

export class HandleSealer {
  readonly #macKey: Buffer
  readonly #cipherKey: Buffer

  constructor(key: InstallationKey) {
    const both = key.derive('seal', 64)
    this.#macKey = both.subarray(0, 32)
    this.#cipherKey = both.subarray(32)
  }

  /** Letters, digits, `-`, `_` and `.`: safe in a header, a URL or JSON. */
  seal(kind: SealKind, sealedFor: SealBinding, handle: string): string {
    const plain = Buffer.from(handle, 'utf8')
    if (plain.length > HANDLE_BYTES_MAX)
      throw new IdentityError(
        'IDENTITY_HANDLE',
        `a ${kind} of the server \`${sealedFor.server}\` has ${plain.length} bytes`,
        `at most ${HANDLE_BYTES_MAX} can be sealed`,
      )
    const tag = this.#tag(kind, sealedFor, plain)
    const cipher = createCipheriv('aes-256-ctr', this.#cipherKey, tag)
    return PREFIX + Buffer.concat([tag, cipher.update(plain), cipher.final()]).toString('base64url')
  }

  /** The handle; undefined unless it was sealed here with this binding. */
  open(kind: SealKind, sealedFor: SealBinding, sealed: string): string | undefined {
    if (!sealed.startsWith(PREFIX) || sealed.length > SEALED_LENGTH_MAX) return undefined
    const text = sealed.slice(PREFIX.length)
    const bytes = Buffer.from(text, 'base64url')
    // One text per handle: rejects the same bytes in another encoding.
    if (bytes.length < TAG_BYTES || bytes.toString('base64url') !== text) return undefined
    const tag = bytes.subarray(0, TAG_BYTES)
    const cipher = createDecipheriv('aes-256-ctr', this.#cipherKey, tag)
    const plain = Buffer.concat([cipher.update(bytes.subarray(TAG_BYTES)), cipher.final()])
    if (!timingSafeEqual(tag, this.#tag(kind, sealedFor, plain))) return undefined
    return plain.toString('utf8')
  }

  #tag(kind: SealKind, { server, principal, call }: SealBinding, plain: Buffer): Buffer {
    // JSON of a list of texts is injective: no principal can be spelt like another's server.
    const binding = JSON.stringify([kind, server, principal, call ?? null])
    const mac = createHmac('sha256', this.#macKey)
    mac.update(`${Buffer.byteLength(binding)}:${binding}`).update(plain)
    return mac.digest().subarray(0, TAG_BYTES)
  }
}
