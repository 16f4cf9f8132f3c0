// A software passkey that acts like a platform authenticator: creates real keys, real attestations
// ("none") and real signatures, and counts. For tests of their verification.

import {
  createHash,
  createSign,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'

interface Options {
  readonly challenge: string
  readonly rp?: { readonly id?: string }
  readonly rpId?: string
}

export class SoftwareKey {
  readonly id = randomBytes(32)
  readonly #private: KeyObject
  readonly #public: KeyObject
  readonly #origin: string
  counter = 0
  /** User verification, as the authenticator reports it. */
  isVerified = true
  /** Additional members of the client data. */
  says: object = {}

  constructor(origin: string) {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    this.#private = privateKey
    this.#public = publicKey
    this.#origin = origin
  }

  /** The answer of `navigator.credentials.create`, as JSON. */
  attest(options: object): object {
    const { challenge, rp } = options as Options
    const id = this.id
    const head = Buffer.alloc(18)
    head.writeUInt16BE(id.length, 16)
    const data = Buffer.concat([this.#data(rp?.id ?? '', 0x40), head, id, this.#cose()])
    const object = Buffer.concat([
      Buffer.from([0xa3]),
      text('fmt'),
      text('none'),
      text('attStmt'),
      Buffer.from([0xa0]),
      text('authData'),
      bytes(data),
    ])
    const clientDataJSON = this.#client('webauthn.create', challenge)
    return this.#answer({ clientDataJSON, attestationObject: object.toString('base64url') })
  }

  /** The answer of `navigator.credentials.get`, as JSON. */
  assert(options: object, origin = this.#origin): object {
    const { challenge, rpId = '' } = options as Options
    this.counter++
    const data = this.#data(rpId, 0)
    const clientDataJSON = this.#client('webauthn.get', challenge, origin)
    const digest = createHash('sha256').update(Buffer.from(clientDataJSON, 'base64url')).digest()
    const signature = createSign('sha256').update(data).update(digest).sign(this.#private)
    return this.#answer({
      clientDataJSON,
      authenticatorData: data.toString('base64url'),
      signature: signature.toString('base64url'),
    })
  }

  #answer(response: object): object {
    const id = this.id.toString('base64url')
    return { id, rawId: id, type: 'public-key', clientExtensionResults: {}, response }
  }

  #client(type: string, challenge: string, origin = this.#origin): string {
    return Buffer.from(JSON.stringify({ type, challenge, origin, ...this.says })).toString(
      'base64url',
    )
  }

  #data(rpId: string, flags: number): Buffer {
    const rest = Buffer.alloc(5)
    rest[0] = flags | 0x01 | (this.isVerified ? 0x04 : 0)
    rest.writeUInt32BE(this.counter, 1)
    return Buffer.concat([createHash('sha256').update(rpId).digest(), rest])
  }

  /** {1: 2, 3: -7, -1: 1, -2: x, -3: y}. */
  #cose(): Buffer {
    const { x = '', y = '' } = this.#public.export({ format: 'jwk' })
    return Buffer.concat([
      Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21]),
      bytes(Buffer.from(x, 'base64url')),
      Buffer.from([0x22]),
      bytes(Buffer.from(y, 'base64url')),
    ])
  }
}

function text(value: string): Buffer {
  return Buffer.concat([Buffer.from([0x60 | value.length]), Buffer.from(value)])
}

function bytes(value: Buffer): Buffer {
  const head =
    value.length < 256
      ? Buffer.from([0x58, value.length])
      : Buffer.from([0x59, value.length >> 8, value.length & 0xff])
  return Buffer.concat([head, value])
}
