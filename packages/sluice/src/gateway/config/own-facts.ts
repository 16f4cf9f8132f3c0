// What is known of the gate's own files when a server is called: their paths, the places in which the
// server may look for a relative path, and where links lead. Made when a gate is configured, and again
// when a client names roots.

import { homedir } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import type { Facts } from '@sluice/policy/core/call'
import { decodePercent } from '@sluice/policy/core/percent'
import type { ServerConfig } from './config.ts'
import { followLinks } from './own-links.ts'
import { directoriesOf, isBelow, withReal, workDirectory } from './work-directory.ts'

export type OwnFacts = Pick<Facts, 'ownPaths' | 'place'>

export interface OwnFiles {
  readonly facts: OwnFacts
  /** The same with roots of a client, or why they may not be sent to the server. */
  withRoots(roots: readonly string[]): OwnFacts | string
}

interface FactPlace {
  readonly ownPaths: readonly string[]
  readonly bases: readonly string[]
  /** Directories of the server beside the one it starts in and home. */
  readonly named: readonly string[]
  readonly workDirectory: string | undefined
  readonly workDirectories: string
}

/** The same for one session, whose client may name roots and whose server may be changed. */
export class SessionOwnFiles {
  readonly #look: () => OwnFiles
  #files: OwnFiles
  #roots: readonly string[] = []
  facts: OwnFacts

  constructor(look: () => OwnFiles) {
    this.#look = look
    this.#files = look()
    this.facts = this.#files.facts
  }

  /** Why they may not be sent to the server. */
  nameRoots(roots: readonly string[]): string | undefined {
    const facts = this.#files.withRoots(roots)
    if (typeof facts === 'string') return facts
    this.#roots = roots
    this.facts = facts
    return undefined
  }

  /** The server is configured differently. Why the session cannot go on: the server knows roots that
   * lie within the gate's own files by now. */
  renew(): string | undefined {
    this.#files = this.#look()
    if (this.#roots.length > 0) return this.nameRoots(this.#roots)
    this.facts = this.#files.facts
    return undefined
  }
}

/** For each server as it is configured now. */
export function ownFilesOf(
  data: string,
  files: readonly string[],
): (name: string, server: ServerConfig | undefined) => OwnFiles {
  const ownPaths = [...new Set(files.flatMap(withReal))]
  const workDirectories = withReal(join(data, 'servers')).at(-1) as string
  const elsewhere = { ownPaths, workDirectories, bases: [], named: [], workDirectory: undefined }
  const known = new WeakMap<ServerConfig, OwnFiles>()
  return (name, server) => {
    if (server?.kind !== 'stdio') return filesAt(elsewhere)
    const there = known.get(server)
    if (there !== undefined) return there
    const own = workDirectory(data, name)
    const directories = directoriesOf(server)
    const made = filesAt({
      ownPaths,
      workDirectories,
      bases: [...new Set([...directories, homedir()].flatMap(withReal))],
      named: directories.slice(1),
      workDirectory: server.cwd === own ? withReal(own).at(-1) : undefined,
    })
    known.set(server, made)
    return made
  }
}

function filesAt(place: FactPlace): OwnFiles {
  return { facts: factsOf(place), withRoots: (roots) => withRoots(place, roots) }
}

function factsOf({ ownPaths, bases, named, workDirectory, workDirectories }: FactPlace): OwnFacts {
  if (bases.length === 0) return { ownPaths }
  const links =
    named.length === 0 ? {} : { startLookups: followLinks({ ownPaths, workDirectories }) }
  const own = workDirectory === undefined ? {} : { workDirectory }
  return { ownPaths, place: { bases, ...own, ...links } }
}

function withRoots(place: FactPlace, roots: readonly string[]): OwnFacts | string {
  const { ownPaths, bases, workDirectory } = place
  const named = roots.flatMap((root) => directoriesIn(root, bases)).flatMap(withReal)
  for (const root of named) {
    const isServers = workDirectory !== undefined && isBelow(root, workDirectory)
    if (!isServers && ownPaths.some((own) => isBelow(root.toLowerCase(), own.toLowerCase())))
      return `the root \`${root}\` lies within the gate's own files: name another directory`
  }
  return factsOf({ ...place, bases: [...new Set([...bases, ...named])], named })
}

/** Every directory that a server may read from a root: as a URI, as written, relative to where it is. */
function directoriesIn(uri: string, bases: readonly string[]): string[] {
  const isFile = /^file:/i.test(uri)
  if (!isFile && /^[a-z][\w+.-]+:/i.test(uri)) return []
  const written = uri
    .replace(/^file:(?:\/\/(?:localhost)?(?=[\\/]|%))?/i, '')
    .replace(/^\/\/(?=\/)/, '')
  const readings = new Set([written, decodePercent(written)])
  return [...readings].flatMap((path) => {
    if (path.includes('\0')) return []
    const atHome = path.replace(/^~(?=\/|$)/, homedir())
    return isAbsolute(atHome) ? [resolve(atHome)] : bases.map((base) => resolve(base, atHome))
  })
}
