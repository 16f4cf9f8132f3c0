// The functions of the module that a guest is run with, and its imports. No host function is
// granted: the imports that QuickJS cannot be linked without return constants, the time and the
// count that the caller set, or nothing. Called by instance and bake-image.

import type { WasmGlobal, WasmImports, WasmMemory } from './webassembly.ts'

/** Functions of the guest that the host calls, with numbers: values, addresses, lengths. */
const FUNCTIONS = [
  'wasm_malloc',
  'wasm_free',
  'qjs_new_string',
  'qjs_new_uint8_array',
  'qjs_call',
  'qjs_free_value',
  'qjs_is_exception',
  'qjs_is_string',
  'qjs_is_array',
  'qjs_get_prop_uint32',
  'qjs_get_typed_array_buffer',
  'qjs_get_array_buffer',
  'qjs_get_exception',
  'qjs_get_string_len',
  'qjs_free_cstring',
  'qjs_is_job_pending',
  'qjs_execute_pending_job',
] as const

export interface GuestExports
  extends Readonly<Record<(typeof FUNCTIONS)[number], (...values: number[]) => number>> {
  readonly memory: WasmMemory
  readonly __stack_pointer: WasmGlobal
}

export const KEPT_EXPORTS: ReadonlySet<string> = new Set([
  'memory',
  '__stack_pointer',
  ...FUNCTIONS,
])

/** What a guest can observe while it runs; the caller sets it before each call. */
export interface GuestWorld {
  nowMs: number
  pollsLeft: number
  /** The guest is stopped at its next poll after this, in ms of `readMs`. */
  untilMs: number
  /** The clock of `untilMs`: processor time of the thread. */
  readonly readMs: () => number
  memory: WasmMemory | undefined
  /** A promise was rejected that nothing handles, or is handled after all; both values are the receiver's to free. Absent
   * while an image is made. */
  onRejection?(promise: number, reason: number, isHandled: boolean): void
}

const BAD_FILE = 8
const NANOSECONDS_PER_MS = 1_000_000n

export function guestImports(world: GuestWorld): WasmImports {
  const view = () => {
    if (world.memory === undefined) throw new Error('the guest called out before it was there')
    return new DataView(world.memory.buffer)
  }
  return {
    env: {
      host_interrupt: () => {
        world.pollsLeft -= 1
        return world.pollsLeft < 0 || world.readMs() > world.untilMs ? 1 : 0
      },
      host_call: () => 0,
      host_promise_rejection: (promise: number, reason: number, isHandled: number) =>
        world.onRejection?.(promise, reason, isHandled !== 0),
      host_module_normalize: () => 0,
      host_module_load: () => 0,
      host_get_timezone_offset: () => 0,
    },
    wasi_snapshot_preview1: {
      clock_time_get: (_clock: number, _precision: bigint, pointer: number) => {
        view().setBigUint64(pointer, BigInt(Math.trunc(world.nowMs)) * NANOSECONDS_PER_MS, true)
        return 0
      },
      // Constant bytes: a guest's randomness is seeded by its events, never from here.
      random_get: (pointer: number, length: number) => {
        const memory = view()
        for (let at = 0; at < length; at += 1) memory.setUint8(pointer + at, 7)
        return 0
      },
      // Nothing a guest prints reaches the host's output.
      fd_write: (_fd: number, _vectors: number, _count: number, written: number) => {
        view().setUint32(written, 0, true)
        return BAD_FILE
      },
      fd_close: () => BAD_FILE,
      fd_fdstat_get: () => BAD_FILE,
      fd_seek: () => BAD_FILE,
    },
  }
}
