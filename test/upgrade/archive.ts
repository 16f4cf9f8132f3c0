// A folder in one compressed file: a line of JSON with the paths and sizes, then the bytes of the files.

import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib'

const PARAMS = {
  [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
  [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
}

/** Space that a gate has in reserve, and what marks a running one. */
const LEFT_OUT = /\.(?:reserve|lock)$/

interface Entry {
  readonly path: string
  readonly size: number
}

export function packFolder(folder: string): Buffer {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => !LEFT_OUT.test(path) && statSync(join(folder, path)).isFile())
    .sort()
  const contents = paths.map((path) => readFileSync(join(folder, path)))
  const entries = paths.map((path, at): Entry => ({ path, size: contents[at]?.length ?? 0 }))
  const head = Buffer.from(`${JSON.stringify(entries)}\n`)
  return brotliCompressSync(Buffer.concat([head, ...contents]), { params: PARAMS })
}

/** Files and folders are private: a gate refuses data that others may read. */
export function unpackFolder(archive: string, folder: string): void {
  const bytes = brotliDecompressSync(readFileSync(archive))
  const end = bytes.indexOf('\n')
  let from = end + 1
  for (const { path, size } of JSON.parse(bytes.toString('utf8', 0, end)) as Entry[]) {
    mkdirSync(dirname(join(folder, path)), { recursive: true, mode: 0o700 })
    writeFileSync(join(folder, path), bytes.subarray(from, from + size), { mode: 0o600 })
    from += size
  }
}
