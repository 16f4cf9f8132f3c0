// Values in rows of a database (arguments of approvals, logins): sealed with a key of the installation, each
// bound to its row, so that a copy of the file reveals nothing and no row can replace another.

import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

const NONCE_BYTES = 12
const TAG_BYTES = 16

export class Vault {
  readonly #key: Buffer

  /** 32 bytes. */
  constructor(key: Buffer) {
    this.#key = key
  }

  seal(place: string, plain: string | Uint8Array): Uint8Array {
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce).setAAD(Buffer.from(place))
    const bytes = typeof plain === 'string' ? Buffer.from(plain) : plain
    const sealed = Buffer.concat([cipher.update(bytes), cipher.final()])
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed])
  }

  /** Throws if it was not sealed here for this row. */
  open(place: string, sealed: Uint8Array): string {
    return this.openBytes(place, sealed).toString('utf8')
  }

  /** The same for bytes. */
  openBytes(place: string, sealed: Uint8Array): Buffer {
    const bytes = Buffer.from(sealed)
    const nonce = bytes.subarray(0, NONCE_BYTES)
    const decipher = createDecipheriv('aes-256-gcm', this.#key, nonce, { authTagLength: TAG_BYTES })
    decipher.setAAD(Buffer.from(place))
    decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
    const plain = [decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]
    return Buffer.concat(plain)
  }
}
