// What a session remembers of answers, as bytes: JSON with a length before it, then the words of the two tables.
// Stores encrypt and authenticate these bytes, so they are read as they were written, or not at all.

import { asBuffer } from '@sluice/ledger/store/as-buffer'
import { SessionProvenance } from '@sluice/policy/provenance/session-provenance'
import type {
  ProvenanceAddition,
  StoredProvenance,
} from '@sluice/policy/provenance/stored-provenance'

/** The version of the form. Version 2 stored the words of the prompt as text: they are forgotten. */
const VERSION = 3
const READ_VERSIONS: ReadonlySet<unknown> = new Set([2, VERSION])

export function encodeProvenance(provenance: SessionProvenance): Buffer {
  return encodeAddition(provenance.toStored())
}

/** Returns undefined if the bytes are of another version. */
export function decodeProvenance(bytes: Uint8Array): SessionProvenance | undefined {
  const stored = decodeAddition(bytes)
  return stored && SessionProvenance.fromStored(stored as StoredProvenance)
}

export function encodeAddition({ table, prompt, ...rest }: ProvenanceAddition): Buffer {
  const head = Buffer.from(JSON.stringify({ version: VERSION, words: table.length, ...rest }))
  const length = Buffer.alloc(4)
  length.writeUInt32LE(head.length)
  return Buffer.concat([length, head, asBuffer(table), asBuffer(prompt)])
}

/** Returns undefined if the bytes are of another version. */
export function decodeAddition(bytes: Uint8Array): ProvenanceAddition | undefined {
  const buffer = asBuffer(bytes)
  const start = 4 + buffer.readUInt32LE(0)
  const { version, words, ...head } = JSON.parse(buffer.toString('utf8', 4, start))
  if (!READ_VERSIONS.has(version)) return undefined
  const middle = start + 4 * words
  const [table, prompt] = [buffer.subarray(start, middle), buffer.subarray(middle)]
  return { ...head, table: toWords(table), prompt: toWords(prompt) }
}

/** Copied: the bytes need not begin where words may. */
function toWords(bytes: Buffer): Uint32Array {
  const words = new Uint32Array(Math.floor(bytes.length / 4))
  asBuffer(words).set(bytes.subarray(0, 4 * words.length))
  return words
}
