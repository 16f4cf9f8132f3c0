// Keys for the tests of checkpoints, derived from a name instead of an installation.

import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto'
import type { Signer } from './chain/checkpoint.ts'

export function signerForTests(name: string): Signer {
  const seed = createHash('sha256').update(name).digest()
  const head = Buffer.from('302e020100300506032b657004220420', 'hex')
  const key = createPrivateKey({ key: Buffer.concat([head, seed]), format: 'der', type: 'pkcs8' })
  return {
    publicKey: createPublicKey(key).export({ format: 'jwk' }).x as string,
    sign: (text) => sign(null, Buffer.from(text), key).toString('base64url'),
  }
}
