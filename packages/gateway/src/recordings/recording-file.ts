// One recording on disk: a line that says what it is, then calls, each encrypted and authenticated
// (AES-256-GCM) with a key of its own file, numbered, so that a changed, moved or missing one is
// found. The first line is authenticated with every call: its expiry cannot be moved.

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'
import { attempt } from '@sluice/policy/structures/attempt'
import type { JsonValue } from '@sluice/policy/values/json'

export interface RecordingHeader {
  readonly id: string
  readonly by: string
  readonly startedMs: number
  /** When it is deleted. */
  readonly expiresMs: number
  readonly server?: string
  readonly principal?: string
}

/** One call as it is recorded. */
export interface RecordedCallContent {
  readonly session: string
  readonly server: string
  readonly tool: string
  readonly args: JsonValue
  readonly answer: string
  /** The answer was too long and is not recorded. */
  readonly omitted?: true
}

const VERSION = 'sluice traces 1'
const SALT_BYTES = 16
const TAG_BYTES = 16
const LENGTH_BYTES = 4

export class RecordingWriter {
  readonly header: RecordingHeader
  readonly #file: number
  readonly #key: Buffer
  readonly #line: Buffer
  #frames = 0
  bytes = 0
  calls = 0

  /** The file must not be there yet. */
  constructor(file: string, key: Buffer, header: RecordingHeader) {
    this.header = header
    const salt = randomBytes(SALT_BYTES)
    this.#line = toLine(header, salt)
    this.#key = deriveKey(key, salt)
    this.#file = openSync(file, 'wx', 0o600)
    this.#write(this.#line)
  }

  add(call: RecordedCallContent): void {
    this.#seal(Buffer.from(JSON.stringify(call)))
    this.calls++
  }

  /** Marks the end: without it the last calls may be missing. */
  end(): void {
    try {
      this.#seal(Buffer.alloc(0))
    } finally {
      closeSync(this.#file)
    }
  }

  #seal(plain: Buffer): void {
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonceOf(this.#frames++))
    cipher.setAAD(this.#line)
    const sealed = Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()])
    const length = Buffer.alloc(LENGTH_BYTES)
    length.writeUInt32BE(sealed.length)
    this.#write(Buffer.concat([length, sealed]))
  }

  #write(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#file, bytes, at)
    this.bytes += bytes.length
  }
}

export interface RecordingContent {
  readonly calls: readonly RecordedCallContent[]
  /** The recording was ended, and nothing after any call is missing. */
  readonly isWhole: boolean
}

/** Undefined if it is no recording of this version. */
export function readHeader(file: string): RecordingHeader | undefined {
  const bytes = readFileSync(file)
  return parseLine(bytes.subarray(0, lineEnd(bytes)))?.header
}

/** Every call up to the first that does not authenticate. */
export function readCalls(file: string, key: Buffer): RecordingContent {
  const bytes = readFileSync(file)
  const start = lineEnd(bytes)
  const line = bytes.subarray(0, start)
  const header = parseLine(line)
  const calls: RecordedCallContent[] = []
  if (header === undefined) return { calls, isWhole: false }
  const own = deriveKey(key, header.salt)
  for (let at = start, frame = 0; at + LENGTH_BYTES <= bytes.length; frame++) {
    const end = at + LENGTH_BYTES + bytes.readUInt32BE(at)
    const plain = open(bytes.subarray(at + LENGTH_BYTES, end), { key: own, line, frame })
    if (plain === undefined || end > bytes.length) return { calls, isWhole: false }
    if (plain.length === 0) return { calls, isWhole: end === bytes.length }
    calls.push(JSON.parse(plain.toString()) as RecordedCallContent)
    at = end
  }
  return { calls, isWhole: false }
}

function open(
  sealed: Buffer,
  { key, line, frame }: { readonly key: Buffer; readonly line: Buffer; readonly frame: number },
): Buffer | undefined {
  if (sealed.length < TAG_BYTES) return undefined
  const decipher = createDecipheriv('aes-256-gcm', key, nonceOf(frame))
  decipher.setAAD(line)
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
  return attempt(() =>
    Buffer.concat([decipher.update(sealed.subarray(0, -TAG_BYTES)), decipher.final()]),
  )
}

/** A key serves one file, which is written once: the number of the call never comes again. */
function nonceOf(frame: number): Buffer {
  const nonce = Buffer.alloc(12)
  nonce.writeUIntBE(frame, 6, 6)
  return nonce
}

function deriveKey(key: Buffer, salt: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', key, salt, VERSION, 32))
}

function toLine(header: RecordingHeader, salt: Buffer): Buffer {
  return Buffer.from(`${JSON.stringify({ is: VERSION, salt: salt.toString('hex'), ...header })}\n`)
}

function lineEnd(bytes: Buffer): number {
  return bytes.indexOf(0x0a) + 1
}

function parseLine(line: Buffer): { header: RecordingHeader; salt: Buffer } | undefined {
  try {
    const { is, salt, ...header } = JSON.parse(line.toString()) as RecordingHeader &
      Record<'is' | 'salt', string>
    return is === VERSION ? { header, salt: Buffer.from(salt, 'hex') } : undefined
  } catch {
    return undefined
  }
}
