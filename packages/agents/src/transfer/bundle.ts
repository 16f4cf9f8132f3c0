// A bundle: the portable form, the exact memory, and an Ed25519 signature over both. Memory is only
// ever used where the signature is by this installation or a trusted key and the image fits; in any
// other case the portable part is what counts. Layout: magic, lengths, JSON, memory, key, signature.

import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { GUEST_MEMORY_PAGES_MAX, PAGE_BYTES } from '../sandbox/limits.ts'
import { AgentError } from '../shared/errors.ts'
import { IMPORT_BYTES_MAX, IMPORT_JSON_BYTES_MAX } from '../shared/limits.ts'

const MAGIC = Buffer.from('SLUICEA1', 'latin1')
const LENGTHS_BYTES = 8
const KEY_BYTES = 32
const SIGNATURE_BYTES = 64
/** What a guest's memory can be at most, and a little for its head. */
const MEMORY_BYTES_MAX = GUEST_MEMORY_PAGES_MAX * PAGE_BYTES + 1_048_576
/** Before a raw Ed25519 key in the form that Node reads: SPKI and PKCS #8. */
const SPKI = Buffer.from('302a300506032b6570032100', 'hex')
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')

export function privateKey(seed: Uint8Array): KeyObject {
  return createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' })
}

export function publicHex(key: KeyObject): string {
  const der = createPublicKey(key).export({ format: 'der', type: 'spki' })
  return der.subarray(SPKI.length).toString('hex')
}

export function writeBundle(json: string | Uint8Array, memory: Uint8Array, key: KeyObject): Buffer {
  const text = zstdCompressSync(typeof json === 'string' ? Buffer.from(json, 'utf8') : json)
  const image = zstdCompressSync(memory)
  const lengths = Buffer.alloc(LENGTHS_BYTES)
  lengths.writeUInt32LE(text.length, 0)
  lengths.writeUInt32LE(image.length, 4)
  const body = Buffer.concat([MAGIC, lengths, text, image, Buffer.from(publicHex(key), 'hex')])
  return Buffer.concat([body, sign(null, body, key)])
}

export function isBundle(bytes: Uint8Array): boolean {
  return MAGIC.every((byte, at) => bytes[at] === byte)
}

/** What a bundle carries. */
export interface ReadBundle {
  readonly json: Buffer
  /** Empty if the bundle carries none. */
  readonly memory: Buffer
  /** The signer's public key, hex. It says who signed, not that they may. */
  readonly signer: string
}

/** Throws unless the bundle is complete and signed by the signer it names. */
export function readBundle(bytes: Buffer): ReadBundle {
  const fixed = MAGIC.length + LENGTHS_BYTES + KEY_BYTES + SIGNATURE_BYTES
  if (!isBundle(bytes) || bytes.length < fixed || bytes.length > IMPORT_BYTES_MAX) throw damaged()
  const textLength = bytes.readUInt32LE(MAGIC.length)
  const memoryLength = bytes.readUInt32LE(MAGIC.length + 4)
  if (bytes.length !== fixed + textLength + memoryLength) throw damaged()
  const body = bytes.subarray(0, bytes.length - SIGNATURE_BYTES)
  const signer = body.subarray(body.length - KEY_BYTES)
  const start = MAGIC.length + LENGTHS_BYTES
  try {
    const key = createPublicKey({
      key: Buffer.concat([SPKI, signer]),
      format: 'der',
      type: 'spki',
    })
    if (!verify(null, body, key, bytes.subarray(body.length))) throw damaged()
    const unpack = (from: number, length: number, maxOutputLength: number) =>
      zstdDecompressSync(body.subarray(from, from + length), { maxOutputLength })
    return {
      json: unpack(start, textLength, IMPORT_JSON_BYTES_MAX),
      memory: unpack(start + textLength, memoryLength, MEMORY_BYTES_MAX),
      signer: signer.toString('hex'),
    }
  } catch (error) {
    throw error instanceof AgentError ? error : damaged(error)
  }
}

function damaged(cause?: unknown): AgentError {
  return new AgentError(
    'AGENT_IMPORT',
    'the bundle is damaged, or was changed after it was signed',
    cause,
  )
}
