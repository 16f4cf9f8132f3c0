// Bakes an image: starts QuickJS, evaluates the guest's core in it once, and turns the memory after
// that into the data of a new module. An instance of it is ready without running anything.
// Reproducible: clock and randomness are constants here. Called by load-image.

import { SandboxError } from './errors.ts'
import { type GuestExports, type GuestWorld, guestImports, KEPT_EXPORTS } from './exports.ts'
import { IMAGE_SECTION, type ImageFacts } from './image.ts'
import {
  GUEST_HEAP_BYTES_MAX,
  GUEST_MEMORY_PAGES_MAX,
  GUEST_STACK_BYTES_MAX,
  PAGE_BYTES,
} from './limits.ts'
import { readQuickJs, sha256 } from './quickjs.ts'
import {
  customSection,
  dataSections,
  findFilledRanges,
  keepExports,
  memorySection,
  readSections,
  SECTION,
  stackPointerSection,
  writeSections,
} from './wasm-binary.ts'
import { compile, instantiate } from './webassembly.ts'

interface BakeExports extends GuestExports {
  _initialize(): void
  qjs_init(): number
  qjs_eval(code: number, length: number, name: number, flags: number): number
  qjs_get_global(): number
  qjs_get_prop_string(value: number, name: number): number
  qjs_get_undefined(): number
  qjs_set_memory_limit(bytes: number): void
  qjs_set_max_stack_size(bytes: number): void
  qjs_set_interrupt_handler(on: number): void
  qjs_set_promise_rejection_handler(on: number): void
  qjs_run_gc(): void
}

/** The name under which a core exports the function that is called with every event. */
const ENTRY = '__guest'
const SCRATCH_BYTES = 64
/** Zeros shorter than this stay inside a data segment. */
const SEGMENT_GAP_BYTES = 4_096
const BAKED_AT_MS = 1_700_000_000_000

export interface BakeOptions {
  /** The core is told of a promise that was rejected and that nothing handles: the third value of the operation `next`. */
  readonly tracksRejections?: boolean
}

export function bakeImage(
  core: string,
  { tracksRejections = false }: BakeOptions = {},
): Uint8Array<ArrayBuffer> {
  const quickJs = readQuickJs()
  const world: GuestWorld = {
    nowMs: BAKED_AT_MS,
    pollsLeft: Number.MAX_SAFE_INTEGER,
    untilMs: Number.POSITIVE_INFINITY,
    readMs: () => 0,
    memory: undefined,
  }
  const guest = instantiate<BakeExports>(compile(quickJs), guestImports(world))
  world.memory = guest.memory
  guest._initialize()
  if (guest.qjs_init() !== 0) throw failed('QuickJS did not start')

  const scratch = guest.wasm_malloc(SCRATCH_BYTES)
  evaluate(guest, core, scratch)
  const entry = property(guest, ENTRY)
  const nothing = guest.qjs_get_undefined()
  guest.qjs_set_memory_limit(GUEST_HEAP_BYTES_MAX)
  guest.qjs_set_max_stack_size(GUEST_STACK_BYTES_MAX)
  guest.qjs_set_interrupt_handler(1)
  if (tracksRejections) guest.qjs_set_promise_rejection_handler(1)
  guest.qjs_run_gc()

  const stackTop = guest.__stack_pointer.value
  const memory = new Uint8Array(guest.memory.buffer).slice()
  // Dead stack frames differ from build to build and mean nothing.
  memory.fill(0, 0, stackTop)
  memory.fill(0, scratch, scratch + SCRATCH_BYTES)
  const facts: ImageFacts = {
    format: 1,
    quickJs: sha256(quickJs),
    core: sha256(core),
    stackTop,
    entry,
    nothing,
    scratch,
  }
  return assemble(quickJs, memory, facts)
}

function assemble(
  quickJs: Uint8Array,
  memory: Uint8Array,
  facts: ImageFacts,
): Uint8Array<ArrayBuffer> {
  const { data, count } = dataSections(memory, findFilledRanges(memory, SEGMENT_GAP_BYTES))
  const sections = readSections(quickJs).flatMap((section) => {
    switch (section.id) {
      case SECTION.custom:
        return []
      case SECTION.memory:
        return [memorySection(memory.length / PAGE_BYTES, GUEST_MEMORY_PAGES_MAX)]
      case SECTION.global:
        return [stackPointerSection(facts.stackTop)]
      case SECTION.exports:
        return [keepExports(section, KEPT_EXPORTS)]
      case SECTION.data:
        return [data]
      case SECTION.dataCount:
        return [count]
      default:
        return [section]
    }
  })
  return writeSections([...sections, customSection(IMAGE_SECTION, JSON.stringify(facts))])
}

function evaluate(guest: BakeExports, core: string, scratch: number): void {
  const code = writeText(guest, core)
  const name = writeText(guest, 'core.js')
  const value = guest.qjs_eval(code.at, code.length, name.at, 0)
  guest.wasm_free(code.at)
  guest.wasm_free(name.at)
  if (guest.qjs_is_exception(value) !== 0) {
    const text = guest.qjs_get_string_len(guest.qjs_get_exception(), scratch)
    const length = new DataView(guest.memory.buffer).getUint32(scratch, true)
    const message = Buffer.from(guest.memory.buffer, text, length).toString('utf8')
    throw failed(`the core threw \`${message}\``)
  }
  guest.qjs_free_value(value)
}

function property(guest: BakeExports, name: string): number {
  const text = writeText(guest, name)
  const value = guest.qjs_get_prop_string(guest.qjs_get_global(), text.at)
  guest.wasm_free(text.at)
  return value
}

function writeText(guest: BakeExports, text: string): { at: number; length: number } {
  const bytes = Buffer.from(`${text}\0`, 'utf8')
  const at = guest.wasm_malloc(bytes.length)
  if (at === 0) throw failed('there is no memory for the core')
  new Uint8Array(guest.memory.buffer).set(bytes, at)
  return { at, length: bytes.length - 1 }
}

function failed(why: string): SandboxError {
  return new SandboxError('SANDBOX_IMAGE', `the image cannot be baked: ${why}`)
}
