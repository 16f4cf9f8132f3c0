// WebAssembly as this room uses it. The types that come with Node leave it out, and those of a
// browser would bring a browser along; so the few words needed are here.

export interface WasmMemory {
  readonly buffer: ArrayBuffer
  grow(pages: number): number
}

export interface WasmGlobal {
  value: number
}

/** Compiled code, to be handed on and instantiated only. */
export interface WasmModule {
  readonly compiled: unique symbol
}

export type WasmImports = Record<string, Record<string, (...values: never[]) => unknown>>

interface Api {
  readonly Module: new (bytes: Uint8Array) => WasmModule
  readonly Instance: new (module: WasmModule, imports: WasmImports) => { readonly exports: unknown }
}

const { Module, Instance } = (globalThis as unknown as { WebAssembly: Api }).WebAssembly

export function compile(bytes: Uint8Array): WasmModule {
  return new Module(bytes)
}

export function instantiate<Exports>(module: WasmModule, imports: WasmImports): Exports {
  return new Instance(module, imports).exports as Exports
}
