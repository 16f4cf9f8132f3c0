// A text of sluice.yaml with references to files (`${file:…}`). The files are read when the text is used, so
// that a rotated secret is sent without a restart of the gate. A value is not parsed again: what a file or a
// variable holds is never a reference.

import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'
import { SECRET_BYTES_MAX, SECRET_FRESH_MS } from '../limits.ts'

/** A plain text, or one with references. */
export type Secret = string | SecretText

/** Says which reference cannot be read, and why; never a value. */
export class SecretError extends Error {}

export class SecretText {
  /** Public, so that digests of a configuration cover the references. */
  readonly parts: readonly (string | { readonly file: string })[]
  #read: { readonly value: string; readonly atMs: number } | undefined

  constructor(parts: SecretText['parts']) {
    this.parts = parts
  }

  /** Throws SecretError if a file cannot be read. Files are read at most twice a second. */
  read(nowMs = performance.now()): string {
    if (this.#read === undefined || nowMs - this.#read.atMs >= SECRET_FRESH_MS)
      this.#read = { value: this.parts.map(readPart).join(''), atMs: nowMs }
    return this.#read.value
  }
}

export function readSecret(secret: Secret): string {
  return typeof secret === 'string' ? secret : secret.read()
}

/** The same texts with their references read. */
export function readSecrets(secrets: Readonly<Record<string, Secret>>): Record<string, string> {
  return Object.fromEntries(Object.entries(secrets).map(([name, one]) => [name, readSecret(one)]))
}

/** A pipe or a device could block the gate or never end: only regular files are read. */
function readPart(part: SecretText['parts'][number]): string {
  if (typeof part === 'string') return part
  let file: number | undefined
  try {
    file = openSync(part.file, constants.O_RDONLY | constants.O_NONBLOCK)
    const stats = fstatSync(file)
    if (!stats.isFile()) throw new SecretError('it is not a regular file')
    if (stats.size > SECRET_BYTES_MAX)
      throw new SecretError(`it has more than ${SECRET_BYTES_MAX} bytes`)
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const why = code === 'ENOENT' ? 'it is not there' : (code ?? message)
    throw new SecretError(`the secret \`$\{file:${part.file}}\` cannot be read: ${why}`)
  } finally {
    if (file !== undefined) closeSync(file)
  }
}
