// Bytes as a Buffer over the same memory: what crosses a thread, or comes from SQLite, is a plain Uint8Array.

import { Buffer } from 'node:buffer'

export function asBuffer({ buffer, byteOffset, byteLength }: ArrayBufferView): Buffer {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength)
}
