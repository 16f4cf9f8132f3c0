// Links that lead to the gate's own files: where a path leads through symbolic links, and whether a
// file is a hard link to one of them. Looks at the disk during a call, but only for servers that have
// directories among their arguments or roots, and only at texts that are a path as a whole.

import {
  type Dirent,
  lstatSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { LINK_DEPTH_MAX, OWN_FILES_WALKED_MAX, OWN_LINKS_FRESH_MS } from '../limits.ts'

interface LinkOptions {
  readonly ownPaths: readonly string[]
  /** Directories whose own links are known: what is not there yet needs no look at them. */
  readonly bases: readonly string[]
  /** Where the gate makes directories for servers: no files of its own are there. */
  readonly workDirectories: string
  readonly nowMs?: () => number
}

/** Returns where a path leads; of one that is not there yet, where its directory leads. */
export function followLinks(options: LinkOptions): (path: string) => string | undefined {
  const bases = new Set(options.bases)
  const hardLinked = rememberHardLinks(options)
  return (path) => {
    try {
      const stats = lstatSync(path, { throwIfNoEntry: false })
      if (stats === undefined) return bases.has(dirname(path)) ? undefined : realPathOf(path)
      const real = realPathOf(path)
      // A file with one name is no hard link: nearly all have one.
      const file = stats.isSymbolicLink() && real !== undefined ? statOf(real) : stats
      return (file !== undefined && file.nlink > 1 && hardLinked(file)) || real
    } catch {
      // Too long, not permitted, or gone meanwhile: no server opens it either.
      return undefined
    }
  }
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

/** Of a path that is not there: where what is there of it leads. Asks before it resolves, because an
 * exception for every text of a call would cost more than the call. */
function realPathOf(path: string, depth = 0): string | undefined {
  const directory = dirname(path)
  const entry = lstatSync(path, { throwIfNoEntry: false })
  if (entry !== undefined && statOf(path) !== undefined) return realpathSync.native(path)
  // A link to what is not there yet: who writes to it makes that.
  if (entry?.isSymbolicLink() && depth < LINK_DEPTH_MAX)
    return realPathOf(resolve(directory, readlinkSync(path)), depth + 1)
  const real = directory === path ? undefined : realPathOf(directory, depth)
  return real === undefined ? undefined : join(real, basename(path))
}

/** The gate's files that have a second name, by device and inode: read again when they may be old. */
function rememberHardLinks({
  ownPaths,
  workDirectories,
  nowMs = () => performance.now(),
}: LinkOptions): (stats: Stats) => string | undefined {
  let files = new Map<string, string>()
  let isComplete = true
  let readMs = Number.NEGATIVE_INFINITY
  return (stats) => {
    if (nowMs() - readMs >= OWN_LINKS_FRESH_MS) {
      files = new Map()
      isComplete = walk(ownPaths, workDirectories, files)
      readMs = nowMs()
    }
    // What could not be looked at counts as found.
    return files.get(keyOf(stats)) ?? (isComplete ? undefined : ownPaths[0])
  }
}

/** False if there are more files than are looked at. */
function walk(
  paths: readonly string[],
  workDirectories: string,
  found: Map<string, string>,
): boolean {
  const left = [...paths]
  for (let walked = 0; left.length > 0; walked++) {
    if (walked >= OWN_FILES_WALKED_MAX) return false
    const path = left.pop() as string
    const stats = statOf(path)
    if (stats?.isFile() && stats.nlink > 1) found.set(keyOf(stats), path)
    if (stats?.isDirectory()) for (const each of entriesOf(path)) left.push(join(path, each))
  }
  return true

  function entriesOf(directory: string): string[] {
    if (directory === workDirectories) return []
    try {
      const entries: Dirent[] = readdirSync(directory, { withFileTypes: true })
      return entries.filter((entry) => !entry.isSymbolicLink()).map(({ name }) => name)
    } catch {
      return []
    }
  }
}

function keyOf({ dev, ino }: Stats): string {
  return `${dev}:${ino}`
}
