// A minimal rewriter of WebAssembly binaries: reads and writes sections, and builds the four that
// baking changes. Knows the format, not the content. Called by bake-image and image.

import { SandboxError } from './errors.ts'

export interface WasmSection {
  readonly id: number
  readonly body: Uint8Array
}

/** The contents of a memory, and how many pieces there are, which WebAssembly has as a section of its own. */
export interface DataSections {
  readonly data: WasmSection
  readonly count: WasmSection
}

export const SECTION = { custom: 0, memory: 5, global: 6, exports: 7, data: 11, dataCount: 12 }

const HEADER = Uint8Array.of(0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0)
const I32_CONST = 0x41
const I32 = 0x7f
const END = 0x0b
const LEB_BYTES_MAX = 5

function encodeUnsigned(value: number): number[] {
  const bytes: number[] = []
  let rest = value >>> 0
  do {
    const low = rest & 0x7f
    rest >>>= 7
    bytes.push(rest === 0 ? low : low | 0x80)
  } while (rest !== 0)
  return bytes
}

function signed(value: number): number[] {
  const bytes: number[] = []
  let rest = value | 0
  for (;;) {
    const low = rest & 0x7f
    rest >>= 7
    const done = (rest === 0 && (low & 0x40) === 0) || (rest === -1 && (low & 0x40) !== 0)
    bytes.push(done ? low : low | 0x80)
    if (done) return bytes
  }
}

/** Reads numbers and bytes sequentially; anything past the end is a damaged file. */
class WasmReader {
  readonly #bytes: Uint8Array
  at: number

  constructor(bytes: Uint8Array, at = 0) {
    this.#bytes = bytes
    this.at = at
  }

  get done(): boolean {
    return this.at >= this.#bytes.length
  }

  byte(): number {
    const value = this.#bytes[this.at]
    if (value === undefined) throw damaged('it ends too early')
    this.at += 1
    return value
  }

  number(): number {
    let value = 0
    for (let place = 0; place < LEB_BYTES_MAX; place += 1) {
      const byte = this.byte()
      value += (byte & 0x7f) * 2 ** (7 * place)
      if ((byte & 0x80) === 0) return value
    }
    throw damaged('a number is too long')
  }

  take(length: number): Uint8Array {
    if (length > this.#bytes.length - this.at) throw damaged('it ends too early')
    this.at += length
    return this.#bytes.subarray(this.at - length, this.at)
  }
}

export function readSections(wasm: Uint8Array): WasmSection[] {
  if (HEADER.some((byte, at) => wasm[at] !== byte)) throw damaged('it is not WebAssembly')
  const reader = new WasmReader(wasm, HEADER.length)
  const sections: WasmSection[] = []
  while (!reader.done) {
    const id = reader.byte()
    sections.push({ id, body: reader.take(reader.number()) })
  }
  return sections
}

export function writeSections(sections: readonly WasmSection[]): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = [HEADER]
  for (const { id, body } of sections)
    parts.push(Uint8Array.from([id, ...encodeUnsigned(body.length)]), body)
  return concat(parts)
}

/** One memory with a hard maximum: the shipped module has none. */
export function memorySection(pages: number, pagesMax: number): WasmSection {
  return {
    id: SECTION.memory,
    body: Uint8Array.from([1, 1, ...encodeUnsigned(pages), ...encodeUnsigned(pagesMax)]),
  }
}

/** The one global, the stack pointer. */
export function stackPointerSection(value: number): WasmSection {
  return {
    id: SECTION.global,
    body: Uint8Array.from([1, I32, 1, I32_CONST, ...signed(value), END]),
  }
}

export function dataSections(
  image: Uint8Array,
  ranges: readonly (readonly [number, number])[],
): DataSections {
  const parts: Uint8Array[] = [Uint8Array.from(encodeUnsigned(ranges.length))]
  for (const [start, end] of ranges)
    parts.push(
      Uint8Array.from([0, I32_CONST, ...signed(start), END, ...encodeUnsigned(end - start)]),
      image.subarray(start, end),
    )
  return {
    data: { id: SECTION.data, body: concat(parts) },
    count: { id: SECTION.dataCount, body: Uint8Array.from(encodeUnsigned(ranges.length)) },
  }
}

/** Only these exports: an instance with all 450 takes four times as long to create. */
export function keepExports(section: WasmSection, keep: ReadonlySet<string>): WasmSection {
  const reader = new WasmReader(section.body)
  const sections: Uint8Array[] = []
  for (let left = reader.number(); left > 0; left -= 1) {
    const start = reader.at
    const name = Buffer.from(reader.take(reader.number())).toString('utf8')
    reader.byte()
    reader.number()
    if (keep.has(name)) sections.push(section.body.subarray(start, reader.at))
  }
  return {
    id: SECTION.exports,
    body: concat([Uint8Array.from(encodeUnsigned(sections.length)), ...sections]),
  }
}

export function customSection(name: string, payload: string): WasmSection {
  const bytes = Buffer.from(name, 'utf8')
  return {
    id: SECTION.custom,
    body: concat([
      Uint8Array.from(encodeUnsigned(bytes.length)),
      bytes,
      Buffer.from(payload, 'utf8'),
    ]),
  }
}

export function readCustom(sections: readonly WasmSection[], name: string): string | undefined {
  for (const { id, body } of sections) {
    if (id !== SECTION.custom) continue
    const reader = new WasmReader(body)
    const text = Buffer.from(reader.take(reader.number())).toString('utf8')
    if (text === name) return Buffer.from(body.subarray(reader.at)).toString('utf8')
  }
  return undefined
}

/** The ranges that are not zero; those closer than `gap` are merged. */
export function findFilledRanges(image: Uint8Array, gap: number): [number, number][] {
  const words = new BigUint64Array(image.buffer, image.byteOffset, image.length >> 3)
  const ranges: [number, number][] = []
  for (let at = 0; at < words.length; at += 1) {
    if (words[at] === 0n) continue
    const last = ranges.at(-1)
    if (last && at * 8 - last[1] <= gap) last[1] = at * 8 + 8
    else ranges.push([at * 8, at * 8 + 8])
  }
  return ranges
}

function concat(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

function damaged(why: string): SandboxError {
  return new SandboxError('SANDBOX_IMAGE', `the image cannot be read: ${why}`)
}
