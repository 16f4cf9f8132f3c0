// An image: the baked module, its metadata, and the initial memory of every guest of it. Identified
// by the hash of its bytes. Opened once in each thread that runs guests of it.

import { SandboxError } from './errors.ts'
import { guestImports } from './exports.ts'
import { sha256 } from './quickjs.ts'
import { readCustom, readSections } from './wasm-binary.ts'
import { compile, instantiate, type WasmMemory, type WasmModule } from './webassembly.ts'

/** The custom section of the module with the metadata. */
export const IMAGE_SECTION = 'sluice.image'

/** Addresses inside the baked memory, the same in every guest of the image. */
export interface ImageFacts {
  readonly format: 1
  readonly quickJs: string
  readonly core: string
  /** The stack is below it; the state of a guest is above. */
  readonly stackTop: number
  readonly entry: number
  readonly nothing: number
  readonly scratch: number
}

export interface Image {
  readonly hash: string
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly module: WasmModule
  readonly facts: ImageFacts
  /** The memory of a new guest. */
  readonly base: Buffer
}

export function openImage(bytes: Uint8Array<ArrayBuffer>): Image {
  const facts = readFacts(bytes)
  const module = compileImage(bytes)
  const { memory } = instantiate<{ memory: WasmMemory }>(
    module,
    guestImports({ nowMs: 0, pollsLeft: 0, untilMs: 0, readMs: () => 0, memory: undefined }),
  )
  return { hash: sha256(bytes), bytes, module, facts, base: Buffer.from(memory.buffer.slice(0)) }
}

function compileImage(bytes: Uint8Array): WasmModule {
  try {
    return compile(bytes)
  } catch (error) {
    throw new SandboxError('SANDBOX_IMAGE', 'the image is not a valid module', error)
  }
}

function readFacts(bytes: Uint8Array): ImageFacts {
  const text = readCustom(readSections(bytes), IMAGE_SECTION)
  try {
    const facts = JSON.parse(text ?? 'null') as ImageFacts
    if (facts.format === 1) return facts
  } catch {
    // Reported below.
  }
  throw new SandboxError('SANDBOX_IMAGE', 'the module is not an image, or of another format')
}
