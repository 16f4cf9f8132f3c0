// Roots that a client names to a server: none may lie within the gate's own files, but for the directory
// that the gate made for the server.

import { homedir } from 'node:os'
import { isAbsolute, resolve } from 'node:path'
import { decodePercent } from '@sluice/policy/readers/percent'
import { isBelow, withReal } from './work-directory.ts'

export interface RootsPlace {
  readonly own: readonly string[]
  /** Where a server resolves relative paths. */
  readonly cwd: string
  /** The directory that the gate made for the server. */
  readonly workDirectory: string
}

/** Why the roots may not be sent to the server. */
export function objectToRoots(
  roots: readonly string[],
  { own, cwd, workDirectory }: RootsPlace,
): string | undefined {
  const work = withReal(workDirectory)
  const root = roots
    .flatMap((uri) => directoriesIn(uri, cwd))
    .flatMap(withReal)
    .filter((path) => !work.some((folder) => isBelow(path, folder)))
    .find((path) => own.some((each) => isBelow(path.toLowerCase(), each.toLowerCase())))
  if (root === undefined) return undefined
  return `the root \`${root}\` lies within the gate's own files: name another directory`
}

/** Every directory that a server may read from a root: as a URI, as written, relative to where it is. */
function directoriesIn(uri: string, cwd: string): string[] {
  const isFile = /^file:/i.test(uri)
  if (!isFile && /^[a-z][\w+.-]+:/i.test(uri)) return []
  const written = uri
    .replace(/^file:(?:\/\/(?:localhost)?(?=[\\/]|%))?/i, '')
    .replace(/^\/\/(?=\/)/, '')
  const readings = [...new Set([written, decodePercent(written)])]
  return readings
    .filter((path) => !path.includes('\0'))
    .map((path) => path.replace(/^~(?=\/|$)/, homedir()))
    .map((path) => (isAbsolute(path) ? resolve(path) : resolve(cwd, path)))
}
