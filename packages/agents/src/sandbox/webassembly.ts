// Types of WebAssembly as far as this module uses it. Node's types leave it out, and those of a
// browser would include the DOM.

export interface WasmMemory {
  readonly buffer: ArrayBuffer
  grow(pages: number): number
}

export interface WasmGlobal {
  value: number
}

/** Compiled code, only to be passed on and instantiated. */
export interface WasmModule {
  readonly compiled: unique symbol
}

export type WasmImports = Record<string, Record<string, (...values: never[]) => unknown>>

interface Api {
  readonly Module: new (bytes: Uint8Array) => WasmModule
  readonly Instance: new (module: WasmModule, imports: WasmImports) => { readonly exports: unknown }
}

declare const WebAssembly: Api

export function compile(bytes: Uint8Array): WasmModule {
  return new WebAssembly.Module(bytes)
}

export function instantiate<Exports>(module: WasmModule, imports: WasmImports): Exports {
  return new WebAssembly.Instance(module, imports).exports as Exports
}
