// What bubblewrap is told to mount. On the floor a server sees everything that its user sees but the
// gate's own files: the data directory is an empty one, and a file there is nothing that can be opened.

import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { attempt } from '@sluice/policy/structures/attempt'
import { isBelow } from '../config/work-directory.ts'

/** The part of the gate's data that is a server's own. */
interface HidingOptions {
  readonly workDirectory: string
  /** Whether a path can be seen, and moved, at all; undefined: every one can. */
  readonly isVisible?: (path: string) => boolean
  readonly isWritable?: (path: string) => boolean
}

/** Everything as it is, but `/proc`, which shows the processes of the server's own namespace. */
export const WHOLE_VIEW: readonly string[] = ['--dev-bind', '/', '/', '--proc', '/proc']

/** Hides the gate's files. Each folder on the way to one is mounted onto itself: a folder that could be moved
 * away could be replaced by another one with files of the server's making. */
export function hideOwnFiles(
  own: readonly string[],
  { workDirectory, isVisible = () => true, isWritable = () => true }: HidingOptions,
): string[] {
  const there = [...new Set(own.flatMap(toReal))].filter(isVisible)
  const hidden = there.filter(
    (path) => !there.some((other) => other !== path && isBelow(path, other)),
  )
  const above = new Set(hidden.flatMap(listMovable).filter(isWritable))
  const work = toReal(workDirectory)
  return [
    ...[...above].sort().flatMap((folder) => ['--dev-bind', folder, folder]),
    ...hidden.flatMap((path) => {
      if (!statSync(path).isDirectory()) return ['--ro-bind', '/dev/null', path]
      const kept = work.filter((folder) => isBelow(folder, path))
      return [
        '--tmpfs',
        path,
        ...kept.flatMap((each) => ['--bind', each, each]),
        '--remount-ro',
        path,
      ]
    }),
  ]
}

/** The folders above a path that could be moved, because the folder around them may be written. */
function listMovable(path: string): string[] {
  const folder = dirname(path)
  const around = dirname(folder)
  if (folder === around) return []
  return [...listMovable(folder), ...(canWrite(around) ? [folder] : [])]
}

function canWrite(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** Where a path leads through links; nothing if it is not there. */
function toReal(path: string): string[] {
  return attempt(() => [realpathSync(path)], [])
}
