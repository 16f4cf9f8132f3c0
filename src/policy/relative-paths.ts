// Relative paths that lead to the gate's own files: a server resolves them against its working
// directory, the directories among its arguments or the roots its client names. Also finds names of
// the gate's files that are given without a directory. Pure: links are followed by what the gate
// passes in, for servers that have directories among their arguments or roots.

import type { ServerPlace } from '../core/call.ts'
import { PATH_LENGTH_MAX } from './limits.ts'

/** Names that only the gate's files have. As a relative path they are denied wherever a server is. */
const OWN_NAMES: ReadonlySet<string> = new Set([
  ...['sluice.yaml', 'sluice.env', 'sluice.lock', 'sluice.moved.json', 'identity.key'],
  ...['identity.db', 'gate.db', 'ledger.db', 'ledger-index.db'],
])

/** What ends a path in a command or a sentence. */
const BETWEEN = /[\s"'`;|&<>()=,:]+/
/** A variable or home in front: whatever it holds, the rest is tried in every place. */
const PREFIX = /^(?:~|\$\{?\w+\}?|%\w+%)\/+/

const FILE_SCHEME = /^file:(?:\/\/(?:localhost)?(?=\/))?/i

interface Search {
  readonly paths: readonly string[]
  readonly bases: readonly string[]
  readonly workDirectory: string | undefined
  /** In every text that leads from a base to a path: a name of the gate's, or a climb. */
  readonly hint: RegExp
  /** A base lies within the gate's files: every name leads there. */
  readonly isInside: boolean
  readonly realPath: ServerPlace['realPath']
}

/** Paths that may still be resolved for one call, and looked at on the disk. */
export interface ResolveBudget {
  pathsLeft: number
  linksLeft: number
}

/** `text` is decoded, with its slashes turned. More paths than the budget has count as found. */
export function leadsToOwnFiles(
  text: string,
  paths: readonly string[],
  place: ServerPlace,
  budget: ResolveBudget,
): boolean {
  if (paths.length === 0) return false
  const search = searchFor(paths, place)
  const { hint, isInside, realPath } = search
  const isHinted = hint.test(text)
  if (!isHinted && !isInside && realPath === undefined) return false
  if (isOwnName(text) || leads(text, search, budget) || leadsByLink(text, search, budget))
    return true
  if ((!isHinted && !isInside) || !BETWEEN.test(text)) return false
  return text
    .split(BETWEEN)
    .some((token) => (isInside || hint.test(token)) && leads(token, search, budget))
}

/** Two objects live as long as the session: what is derived from them is made once. */
const known = new WeakMap<ServerPlace, Search>()

function searchFor(paths: readonly string[], place: ServerPlace): Search {
  let search = known.get(place)
  if (search === undefined || search.paths.length !== paths.length) {
    const folded = paths.map(foldPath)
    const bases = place.bases.map(foldPath)
    const workDirectory =
      place.workDirectory === undefined ? undefined : foldPath(place.workDirectory)
    const isOwnBase = (base: string) => folded.some((path) => isWithin(base, path))
    search = {
      ...{ paths: folded, bases: place.bases, workDirectory, realPath: place.realPath },
      hint: hintOf([...OWN_NAMES, ...folded.map((path) => path.slice(path.lastIndexOf('/') + 1))]),
      isInside: bases.some((base) => base !== workDirectory && isOwnBase(base)),
    }
    known.set(place, search)
  }
  return search
}

/** File systems that ignore case would open it: no others lose much. */
function foldPath(path: string): string {
  return path.replaceAll('\\', '/').toLowerCase()
}

function isOwnName(text: string): boolean {
  const whole = text.trim()
  if (whole.startsWith('/') || /\s/.test(whole)) return false
  return OWN_NAMES.has(whole.slice(whole.lastIndexOf('/') + 1).toLowerCase())
}

function leads(token: string, search: Search, budget: ResolveBudget): boolean {
  // No path is longer, and no server opens what is.
  if (token === '' || token.length > PATH_LENGTH_MAX) return false
  if (--budget.pathsLeft < 0) return true
  return resolvedFrom(token, search).some((path) => isOwn(path, search))
}

/** Only for a text that is a path as a whole: each costs a look at the disk. */
function leadsByLink(text: string, search: Search, budget: ResolveBudget): boolean {
  const { realPath } = search
  if (realPath === undefined || text.length > PATH_LENGTH_MAX || /[\n\0]/.test(text)) return false
  if (--budget.linksLeft < 0) return true
  const path = text.replace(FILE_SCHEME, '')
  return resolvedFrom(path, search).some((each) => isOwn(realPath(each) ?? each, search))
}

function resolvedFrom(token: string, { bases }: Search): string[] {
  const rest = token.replace(PREFIX, '')
  if (rest.startsWith('/')) return [resolvePath('', rest)]
  return bases.map((base) => resolvePath(base.replaceAll('\\', '/'), rest))
}

function hintOf(names: readonly string[]): RegExp {
  const escaped = names.map((name) => name.replace(/[^\w]/g, '\\$&'))
  return new RegExp(`(?:^|[^.\\w])\\.\\.(?![.\\w])|${escaped.join('|')}`, 'i')
}

function isOwn(path: string, { paths, workDirectory }: Search): boolean {
  const folded = foldPath(path)
  if (workDirectory !== undefined && isWithin(folded, workDirectory)) return false
  return paths.some((own) => isWithin(folded, own))
}

function isWithin(path: string, directory: string): boolean {
  return (
    path.startsWith(directory) &&
    (path.length === directory.length || path[directory.length] === '/')
  )
}

function resolvePath(base: string, relative: string): string {
  const segments = base.split('/')
  for (const segment of relative.split('/')) {
    // Above the root is the root; a drive is a root.
    if (segment === '..') {
      if (segments.length > 1) segments.pop()
    } else if (segment !== '' && segment !== '.') segments.push(segment)
  }
  return segments.join('/')
}
