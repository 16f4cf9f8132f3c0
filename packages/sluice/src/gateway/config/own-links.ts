// Links that lead to the gate's own files: where a path leads through symbolic links, and whether a
// file is a hard link to one of them. Looks at the disk during a call, but only for servers that have
// directories among their arguments or roots, and only at texts that are a path as a whole.

import { type Dirent, lstatSync, readdirSync, readlinkSync, type Stats, statSync } from 'node:fs'
import { join } from 'node:path'
import type { LinkLookup } from '@sluice/policy/core/call'
import {
  FILE_NAME_LENGTH_MAX,
  LINK_DEPTH_MAX,
  LINK_LOOKUPS_MAX,
  OWN_FILES_WALKED_MAX,
  OWN_LINKS_FRESH_MS,
} from './limits.ts'

/** Characters of a path for which a lookup counts once more: the system walks it, too. */
const LOOKUP_CHARS = 256

interface LinkOptions {
  readonly ownPaths: readonly string[]
  /** Where the gate makes directories for servers: no files of its own are there. */
  readonly workDirectories: string
  readonly nowMs?: () => number
  readonly look?: (path: string) => Stats | undefined
}

/** Something on the disk that was looked up in this call; a tree, because a map of whole paths would
 * hash every ancestor of a deep path. */
interface Entry {
  readonly path: string
  readonly parent: Entry | undefined
  readonly stats: Stats | undefined
  /** Of a symbolic link. */
  readonly target: string | undefined
  readonly children: Map<string, Entry>
}

/** Starts the lookups of one call. Each returns where a path leads; of one that is not there yet, where
 * what is there of it leads, and past the budget one of the gate's files. */
export function followLinks(options: LinkOptions): () => LinkLookup {
  const hardLinked = rememberHardLinks(options)
  const { ownPaths, look = lookUp } = options
  return () => {
    const root: Entry = { ...NOTHING, path: '', children: new Map() }
    let left = LINK_LOOKUPS_MAX
    return (path) => {
      const entry = walkDown(path, root, enter)
      if (left < 0) return ownPaths[0]
      if (typeof entry !== 'object') return entry
      // A file with one name is no hard link: nearly all have one.
      const { stats } = entry
      return (stats?.isFile() && stats.nlink > 1 && hardLinked(stats)) || entry.path
    }

    function enter(parent: Entry, name: string): Entry | undefined {
      const known = parent.children.get(name)
      if (known !== undefined) return known
      const path = parent === root && /^[a-z]:$/i.test(name) ? name : `${parent.path}/${name}`
      left -= 1 + Math.floor(path.length / LOOKUP_CHARS)
      if (left < 0) return undefined
      const stats = name.length > FILE_NAME_LENGTH_MAX ? undefined : look(path)
      const target = stats?.isSymbolicLink() ? readTarget(path) : undefined
      const entry = { path, parent, stats, target, children: new Map() }
      parent.children.set(name, entry)
      return entry
    }
  }
}

const NOTHING = { parent: undefined, stats: undefined, target: undefined }

/** From the root down to the first name that is not there: below it nothing has to be looked up. Returns
 * its path if it is missing, and undefined for links in a circle or if the budget is used up. */
function walkDown(
  path: string,
  root: Entry,
  enter: (parent: Entry, name: string) => Entry | undefined,
): Entry | string | undefined {
  const names = namesOf(path).reverse()
  let at = root
  for (let links = 0; names.length > 0; ) {
    const name = names.pop() as string
    if (name === '..') {
      at = at.parent ?? root
      continue
    }
    const next = enter(at, name)
    if (next === undefined) return undefined
    if (next.target !== undefined) {
      if (++links > LINK_DEPTH_MAX) return undefined
      if (/^(?:[\\/]|[a-z]:)/i.test(next.target)) at = root
      for (const each of namesOf(next.target).reverse()) names.push(each)
    } else if (next.stats === undefined) return join(next.path, ...names.reverse())
    else at = next
  }
  return at
}

function namesOf(path: string): string[] {
  const separator = process.platform === 'win32' ? /[\\/]/ : '/'
  return path.split(separator).filter((name) => name !== '' && name !== '.')
}

/** Undefined if it is missing, not permitted or no name: no server opens it either. */
function lookUp(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

function readTarget(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
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
    return files.get(toInodeKey(stats)) ?? (isComplete ? undefined : ownPaths[0])
  }
}

/** False if there are more files than are looked at. */
function walk(
  paths: readonly string[],
  workDirectories: string,
  links: Map<string, string>,
): boolean {
  const left = [...paths]
  for (let walked = 0; left.length > 0; walked++) {
    if (walked >= OWN_FILES_WALKED_MAX) return false
    const path = left.pop() as string
    const stats = statOf(path)
    if (stats?.isFile() && stats.nlink > 1) links.set(toInodeKey(stats), path)
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

function toInodeKey({ dev, ino }: Stats): string {
  return `${dev}:${ino}`
}
