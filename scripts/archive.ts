// Archives whose bytes depend on the files alone: order, times, owners and modes are set, and the compression is Node's.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'

interface TarOptions {
  /** The working directory; `names` are below it. */
  readonly folder: string
  readonly names: readonly string[]
  /** User and group of all entries. */
  readonly owner?: number
  /** As `chmod` takes it. */
  readonly mode?: string
  readonly options?: readonly string[]
}

/** Writes an uncompressed archive. */
export function writeTar(file: string, tar: TarOptions): void {
  const { folder, names, owner = 0, mode = 'u+rw,go+r-w,a+X', options = [] } = tar
  const equal = ['--sort=name', '--mtime=@0', `--owner=${owner}`, `--group=${owner}`]
  const form = ['--numeric-owner', '--format=posix', '--pax-option=delete=atime,delete=ctime']
  // `exthdr.name` holds the number of the process otherwise.
  const header = '--pax-option=exthdr.name=%d/PaxHeaders/%f'
  const args = [...equal, ...form, header, `--mode=${mode}`, ...options, '-cf', file, '-C', folder]
  execFileSync('tar', [...args, '--', ...names])
}

/** Replaces an archive by its compressed form. */
export function compress(from: string, to: string): void {
  writeFileSync(to, gzipSync(readFileSync(from), { level: 9 }))
  rmSync(from)
}

export function sha256Of(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex')
}
