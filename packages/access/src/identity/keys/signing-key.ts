// The signing key of the installation: Ed25519, derived from the installation's key, so that there
// is one secret to protect. The public key may be published. Signs checkpoints of the ledger.

import { createPrivateKey, createPublicKey, sign } from 'node:crypto'
import type { InstallationKey } from './installation-key.ts'

/** Prefix of the 32 bytes of an Ed25519 key in PKCS #8. */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex')

export interface SigningKey {
  /** 32 bytes, base64url. */
  readonly publicKey: string
  /** 64 bytes, base64url. */
  sign(text: string): string
}

export function deriveSigningKey(installation: InstallationKey): SigningKey {
  const seed = installation.derive('checkpoints', 32)
  const key = createPrivateKey({
    key: Buffer.concat([PKCS8_HEAD, seed]),
    format: 'der',
    type: 'pkcs8',
  })
  const publicKey = createPublicKey(key).export({ format: 'jwk' }).x as string
  return {
    publicKey,
    sign: (text) => sign(null, Buffer.from(text), key).toString('base64url'),
  }
}
