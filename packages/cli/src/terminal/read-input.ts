// Files and JSON from the command line. Everything invalid is a CliError that names the
// file, the location and what to do.

import { closeSync, openSync, readdirSync, readSync } from 'node:fs'
import { dirname, join, parse } from 'node:path'
import { nearest } from '@sluice/policy/document/nearest'
import { isObject, type JsonObject, type JsonValue } from '@sluice/policy/values/json'
import type { JsonLimits } from '@sluice/protocol/json/limits'
import { readJson } from '@sluice/protocol/json/read-json'
import { ArgumentError, CliError } from './errors.ts'
import { TEXT_FILE_BYTES_MAX } from './limits.ts'

export function readText(file: string, bytesMax = TEXT_FILE_BYTES_MAX): string {
  const bytes = readBytes(file, bytesMax)
  try {
    // Fatal: a name with replaced bytes would differ from the one in the file.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new CliError('CLI_FILE', `\`${file}\` is not UTF-8`, 'save it as UTF-8')
  }
}

/** Names of standard input. Opening `/dev/stdin` fails with ENXIO if it is a socket, which is what some
 * programs pipe into: the descriptor itself is read. */
const STANDARD_INPUT: ReadonlySet<string> = new Set(['-', '/dev/stdin'])

/** Up to the limit and no further: a pipe or a device does not state its size. */
function readBytes(file: string, bytesMax: number): Buffer {
  const isInput = STANDARD_INPUT.has(file)
  let descriptor: number | undefined
  try {
    descriptor = isInput ? 0 : openSync(file, 'r')
    const parts: Buffer[] = []
    for (let size = 0; ; ) {
      const part = Buffer.allocUnsafe(READ_BYTES)
      const count = readPart(descriptor, part)
      if (count === 0) return Buffer.concat(parts)
      size += count
      if (size > bytesMax)
        throw new CliError('CLI_FILE', `\`${file}\` has more than ${bytesMax} bytes`, 'split it')
      parts.push(part.subarray(0, count))
    }
  } catch (error) {
    throw error instanceof CliError ? error : unreadable(file, error as NodeJS.ErrnoException)
  } finally {
    if (descriptor !== undefined && !isInput) closeSync(descriptor)
  }
}

const READ_BYTES = 1_048_576
const RETRY_MS = 5

/** Waits if the other end has made the descriptor non-blocking and has written nothing yet. */
function readPart(descriptor: number, part: Buffer): number {
  for (;;)
    try {
      return readSync(descriptor, part)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'EOF') return 0
      if (code !== 'EAGAIN') throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS)
    }
}

function unreadable(file: string, { code, message }: NodeJS.ErrnoException): CliError {
  if (STANDARD_INPUT.has(file))
    return new CliError(
      'CLI_FILE',
      `standard input cannot be read: ${message}`,
      `pipe the file in, or name it in place of \`${file}\``,
    )
  if (code === 'ENOENT') return new CliError('CLI_FILE', `\`${file}\` was not found`, besides(file))
  if (code === 'EISDIR')
    return new CliError('CLI_FILE', `\`${file}\` is a folder`, 'name a file in it')
  return new CliError('CLI_FILE', `\`${file}\` cannot be read: ${message}`, 'name another file')
}

/** The default configuration file of commands. */
const CONFIG = 'sluice.yaml'
const NO_CONFIG =
  'go to its folder or name it with --config; `sluice init` writes one for the MCP clients here, `sluice up --help` shows the smallest'

/** What `init` and the documentation call a policy. */
const POLICY = 'policy.yaml'
const NO_POLICY =
  'check the name, or let `sluice scan --config sluice.yaml --policy policy.yaml` write one that fits the tools of your servers'

/** What exists in the directory where the file was expected. */
function besides(file: string): string {
  const folder = dirname(file)
  try {
    const files = readdirSync(folder, { withFileTypes: true }).filter(
      (entry) => !entry.isDirectory(),
    )
    const byStem = new Map(files.map(({ name }) => [parse(name).name, name]))
    const near = byStem.get(nearest(parse(file).name, byStem.keys()) ?? '')
    if (near !== undefined) return `did you mean \`${join(folder, near)}\`?`
    if (parse(file).base === POLICY) return NO_POLICY
    const where = folder === '.' ? 'the current folder' : `\`${folder}\``
    return file === CONFIG ? NO_CONFIG : `check the name: ${where} has no file with a similar name`
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    return `the folder \`${folder}\` ${isMissing ? 'does not exist' : 'cannot be read'}`
  }
}

interface JsonTextOptions {
  readonly help: string
  readonly code?: 'CLI_ARGUMENT' | 'CLI_TOOLS' | undefined
  readonly limits?: Partial<JsonLimits> | undefined
}

/** As much as a file of so many bytes may contain: it is ours, not an agent's. */
export function fileLimits(bytes: number): Partial<JsonLimits> {
  return {
    lengthMax: bytes,
    tokensMax: bytes,
    escapedLengthMax: bytes,
    escapedQuotesMax: bytes,
    longNumbersLengthMax: bytes,
  }
}

export function readJsonText(
  text: string,
  what: string,
  { help, code = 'CLI_ARGUMENT', limits = {} }: JsonTextOptions,
): JsonValue {
  const read = readJson(text, limits)
  if (read.ok) return read.value
  const before = text.slice(0, read.offset).split('\n')
  const place =
    before.length > 1
      ? `line ${before.length}, column ${(before.at(-1) as string).length + 1}`
      : `character ${read.offset + 1}`
  throw new CliError(code, `${what} is not JSON: ${read.message} at ${place}`, help)
}

export function readObject(text: string, what: string): JsonObject {
  const help = `write \`${what} '{"name": "text", "count": 1}'\`, quotes and all`
  const value = readJsonText(text, what, { help })
  if (isObject(value)) return value
  throw new ArgumentError(`${what} is not a JSON object`, help)
}
