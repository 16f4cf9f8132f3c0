// A snapshot of a guest: what of its memory differs from its image, in granules of 64 bytes.
// Without the stack, which is empty between two calls. A delta is fully validated before any of it
// is used. Called by instance.

import { SandboxError } from './errors.ts'
import type { Image } from './image.ts'
import { DELTA_RANGES_MAX, GUEST_MEMORY_PAGES_MAX, PAGE_BYTES } from './limits.ts'

const MAGIC = 0x31444c53
const HEADER_BYTES = 12
const PAGE = 4_096
const GRANULE = 64
const GRANULE_WORDS = GRANULE / 4

export function takeDelta(image: Image, memory: ArrayBuffer): Buffer {
  const now = Buffer.from(memory)
  const words = new Uint32Array(memory)
  const { base } = image
  const baseWords = new Uint32Array(base.buffer, base.byteOffset, base.length >> 2)
  const ranges: number[] = []
  let total = 0
  for (let page = image.facts.stackTop; page < now.length; page += PAGE) {
    const inBase = page < base.length
    if (inBase && now.compare(base, page, page + PAGE, page, page + PAGE) === 0) continue
    for (let at = page; at < page + PAGE; at += GRANULE) {
      if (!differs(words, inBase ? baseWords : undefined, at >> 2)) continue
      const last = ranges.length - 2
      if (last >= 0 && (ranges[last] as number) + (ranges[last + 1] as number) === at)
        ranges[last + 1] = (ranges[last + 1] as number) + GRANULE
      else ranges.push(at, GRANULE)
      total += GRANULE
    }
  }
  const head = HEADER_BYTES + ranges.length * 4
  const delta = Buffer.allocUnsafeSlow(head + total)
  delta.writeUInt32LE(MAGIC, 0)
  delta.writeUInt32LE(now.length, 4)
  delta.writeUInt32LE(ranges.length / 2, 8)
  let to = head
  for (let index = 0; index < ranges.length; index += 2) {
    const at = ranges[index] as number
    const length = ranges[index + 1] as number
    delta.writeUInt32LE(at, HEADER_BYTES + index * 4)
    delta.writeUInt32LE(length, HEADER_BYTES + index * 4 + 4)
    now.copy(delta, to, at, at + length)
    to += length
  }
  return delta
}

function differs(words: Uint32Array, base: Uint32Array | undefined, from: number): boolean {
  for (let at = from; at < from + GRANULE_WORDS; at += 1)
    if (words[at] !== (base === undefined ? 0 : base[at])) return true
  return false
}

/** The size that a delta states; `checkDelta` validates it. */
export function readMemoryBytes(delta: Buffer): number {
  return delta.length < HEADER_BYTES ? 0 : delta.readUInt32LE(4)
}

/** How large the memory has to be before `applyDelta`; throws if the delta is invalid. */
export function checkDelta(image: Image, delta: Buffer): number {
  if (delta.length < HEADER_BYTES || delta.readUInt32LE(0) !== MAGIC) throw damaged()
  const memoryBytes = delta.readUInt32LE(4)
  const count = delta.readUInt32LE(8)
  const fits =
    memoryBytes >= image.base.length &&
    memoryBytes % PAGE_BYTES === 0 &&
    memoryBytes <= GUEST_MEMORY_PAGES_MAX * PAGE_BYTES
  const head = HEADER_BYTES + count * 8
  if (!fits || count > DELTA_RANGES_MAX || delta.length < head) throw damaged()
  let total = 0
  let end = image.facts.stackTop
  for (let index = 0; index < count; index += 1) {
    const at = delta.readUInt32LE(HEADER_BYTES + index * 8)
    const length = delta.readUInt32LE(HEADER_BYTES + index * 8 + 4)
    if (at < end || length === 0 || at % GRANULE !== 0 || length % GRANULE !== 0) throw damaged()
    end = at + length
    total += length
  }
  if (end > memoryBytes || delta.length !== head + total) throw damaged()
  return memoryBytes
}

/** Applies the delta to memory that is as in the image. */
export function applyDelta(memory: Uint8Array, delta: Buffer): void {
  const count = delta.readUInt32LE(8)
  let from = HEADER_BYTES + count * 8
  for (let index = 0; index < count; index += 1) {
    const at = delta.readUInt32LE(HEADER_BYTES + index * 8)
    const length = delta.readUInt32LE(HEADER_BYTES + index * 8 + 4)
    memory.set(delta.subarray(from, from + length), at)
    from += length
  }
}

function damaged(): SandboxError {
  return new SandboxError('SANDBOX_IMAGE', 'the memory of a guest at rest is damaged')
}
