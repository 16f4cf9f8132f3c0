// What a session remembers of answers, and its sealed values, as bytes: JSON with a length before it,
// then the words of the two tables. Read back only after the store has authenticated it.

import { Buffer } from 'node:buffer'
import { SessionProvenance } from '@sluice/policy/provenance/session-provenance'
import type { SealedValue } from './session-vault.ts'

const VERSION = 1

export function encodeProvenance(provenance: SessionProvenance): Buffer {
  const { table, prompt, ...rest } = provenance.toStored()
  const head = Buffer.from(JSON.stringify({ version: VERSION, words: table.length, ...rest }))
  const length = Buffer.alloc(4)
  length.writeUInt32LE(head.length)
  return Buffer.concat([length, head, toBytes(table), toBytes(prompt)])
}

/** Undefined if it is of another version. */
export function decodeProvenance(bytes: Uint8Array): SessionProvenance | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const start = 4 + buffer.readUInt32LE(0)
  const { version, words, ...head } = JSON.parse(buffer.toString('utf8', 4, start))
  if (version !== VERSION) return undefined
  const middle = start + 4 * words
  return SessionProvenance.fromStored({
    ...head,
    table: toWords(buffer.subarray(start, middle)),
    prompt: toWords(buffer.subarray(middle)),
  })
}

export function encodeSealed(values: readonly SealedValue[]): Buffer {
  return Buffer.from(JSON.stringify({ version: VERSION, values }))
}

export function decodeSealed(bytes: Uint8Array): readonly SealedValue[] {
  const { version, values } = JSON.parse(Buffer.from(bytes).toString())
  return version === VERSION ? values : []
}

function toBytes(words: Uint32Array): Buffer {
  return Buffer.from(words.buffer, words.byteOffset, words.byteLength)
}

/** Copied: the bytes need not begin where words may. */
function toWords(bytes: Buffer): Uint32Array {
  const words = new Uint32Array(Math.floor(bytes.length / 4))
  toBytes(words).set(bytes.subarray(0, 4 * words.length))
  return words
}
