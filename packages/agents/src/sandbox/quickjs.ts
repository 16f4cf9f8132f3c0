// The JavaScript engine that guests run in: quickjs.wasm of `quickjs-wasi`, pinned to the reviewed
// bytes. Another build may keep state outside of its memory, and a snapshot of it would be
// incomplete. Called when an image is baked.

import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { SandboxError } from './errors.ts'

export const QUICKJS_SHA256 = 'd4c9375f2b1ca4dc95f72c8aa2982a7a9951ac8011490d79c6582df732b4bbd9'

export function readQuickJs(): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(
    readFileSync(fileURLToPath(import.meta.resolve('quickjs-wasi/quickjs.wasm'))),
  )
  const digest = sha256(bytes)
  if (digest !== QUICKJS_SHA256)
    throw new SandboxError(
      'SANDBOX_IMAGE',
      `quickjs.wasm has the hash \`${digest}\`, expected \`${QUICKJS_SHA256}\`: install what package-lock.json says`,
    )
  return bytes
}

export function sha256(bytes: Uint8Array | string): string {
  return hash('sha256', bytes)
}
