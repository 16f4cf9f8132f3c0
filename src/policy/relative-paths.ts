// Relative paths that lead to the gate's own files: a server resolves them against its working
// directory, the directories among its arguments or the roots its client names. Also finds names of
// the gate's files that are given without a directory. Pure: links are followed by what the gate
// passes in, for servers that have directories among their arguments or roots.

import type { ServerPlace } from '../core/call.ts'
import { CLIMB_CHARS_MAX, PATH_LENGTH_MAX } from './limits.ts'
import { namesPathAt, type StepBudget } from './path-mentions.ts'

/** Names that only the gate's files have. As a relative path they are denied wherever a server is. */
const OWN_NAMES: ReadonlySet<string> = new Set([
  ...['sluice.yaml', 'sluice.env', 'sluice.lock', 'sluice.moved.json', 'identity.key'],
  ...['identity.db', 'gate.db', 'ledger.db', 'ledger-index.db'],
])

/** Those names with what they have in common written once: each more to try costs a nanosecond a character. */
const OWN_NAME_HINT =
  'sluice\\.(?:yaml|env|lock|moved\\.json)|identity\\.(?:key|db)|gate\\.db|ledger(?:-index)?\\.db'
const CLIMB = /(?:^|[^.\w])\.\.(?![.\w])/g

/** What ends a path in a command or a sentence. */
const BETWEEN = /[\s"'`;|&<>()=,:]/g
const TOKEN = /[^\s"'`;|&<>()=,:]+/g
/** A variable or home in front: whatever it holds, the rest is tried in every place. */
const PREFIX = /^(?:~|\$\{?\w+\}?|%\w+%)\/+/

const FILE_SCHEME = /^file:(?:\/\/(?:localhost)?(?=\/))?/i

const BETWEEN_CODES = Uint8Array.from({ length: 0x1_0000 }, (_, code) =>
  Number(String.fromCharCode(code).search(BETWEEN) + 1),
)

function isBetween(text: string, at: number): boolean {
  return BETWEEN_CODES[text.charCodeAt(at)] === 1
}

interface Search {
  readonly given: readonly string[]
  readonly paths: readonly string[]
  readonly bases: readonly string[]
  readonly workDirectory: string | undefined
  /** In every text that names a path, or leads from a base to one: a name of the gate's. Global. */
  readonly names: RegExp
  /** A base lies within the gate's files: a climb leads there without a name. */
  readonly isClimbing: boolean
  /** A base lies within the gate's files: every name leads there. */
  readonly isInside: boolean
  readonly realPath: ServerPlace['realPath']
}

/** Paths that may still be resolved for one call, characters of them, and paths looked at on the disk. */
export interface ResolveBudget extends StepBudget {
  pathsLeft: number
  linksLeft: number
}

/** `text` is decoded. More paths than the budget has count as found. */
export function leadsToOwnFiles(
  text: string,
  paths: readonly string[],
  place: ServerPlace,
  budget: ResolveBudget,
): boolean {
  if (paths.length === 0) return false
  const search = searchFor(paths, place)
  if (text.length <= PATH_LENGTH_MAX && isOwnPath(text, search, budget)) return true
  if (search.isInside && leadsByToken(text, search, budget)) return true
  return leadsByName(text, search, budget) || leadsByClimb(text, search, budget)
}

/** A text that may be a path as a whole. No path is longer, and no server opens what is. */
function isOwnPath(text: string, search: Search, budget: ResolveBudget): boolean {
  const { isInside, realPath } = search
  if (!isInside && realPath === undefined && !isHinted(text, search)) return false
  const turned = text.replaceAll('\\', '/')
  return isOwnName(turned) || leads(turned, search, budget) || leadsByLink(turned, search, budget)
}

function isHinted(text: string, { names, isClimbing }: Search): boolean {
  names.lastIndex = 0
  CLIMB.lastIndex = 0
  return names.test(text) || (isClimbing && CLIMB.test(text))
}

/** Any name leads to the gate's files. */
function leadsByToken(text: string, search: Search, budget: ResolveBudget): boolean {
  const tokens = new RegExp(TOKEN)
  for (let found = tokens.exec(text); found !== null; found = tokens.exec(text))
    if (leads(found[0], search, budget)) return true
  return false
}

/** One search: splitting a long text, or looking for one name after the other, costs more than all else. */
function leadsByName(text: string, search: Search, budget: ResolveBudget): boolean {
  const { names, given } = search
  let read = 0
  for (let at = indexOf(names, text, 0); at >= 0; at = indexOf(names, text, at + 1)) {
    budget.stepsLeft -= PLACE_STEPS
    if (budget.stepsLeft < 0) return true
    if (given.some((path) => namesPathAt(text, at, path, budget))) return true
    if (at < read) continue
    const [start, end] = tokenAround(text, at, read)
    if (leads(text.slice(start, end), search, budget)) return true
    read = end
  }
  return false
}

function leadsByClimb(text: string, search: Search, budget: ResolveBudget): boolean {
  if (!search.isClimbing || !text.includes('..')) return false
  if (text.length > CLIMB_CHARS_MAX) return true
  for (let at = indexOf(CLIMB, text, 0); at >= 0; ) {
    // It is found with the character before it.
    const [start, end] = tokenAround(text, isBetween(text, at) ? at + 1 : at, 0)
    if (leads(text.slice(start, end), search, budget)) return true
    at = indexOf(CLIMB, text, end)
  }
  return false
}

function indexOf(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from
  return pattern.exec(text)?.index ?? -1
}

/** Not before `from`. */
function tokenAround(text: string, at: number, from: number): [start: number, end: number] {
  let start = at
  while (start > from && !isBetween(text, start - 1)) start--
  const end = indexOf(BETWEEN, text, at)
  return [start, end < 0 ? text.length : Math.max(end, at + 1)]
}

/** Two objects live as long as the session: what is derived from them is made once. */
const known = new WeakMap<ServerPlace, Search>()

function searchFor(paths: readonly string[], place: ServerPlace): Search {
  let search = known.get(place)
  if (search === undefined || search.given.some((path, at) => path !== paths[at])) {
    const folded = paths.map(foldPath)
    const bases = place.bases.map(foldPath)
    const workDirectory =
      place.workDirectory === undefined ? undefined : foldPath(place.workDirectory)
    const isOwnBase = (base: string) => folded.some((path) => isWithin(base, path))
    search = {
      ...{ given: paths, paths: folded, bases: place.bases, workDirectory },
      realPath: place.realPath,
      names: hintOf(folded.map((path) => path.slice(path.lastIndexOf('/') + 1))),
      isClimbing: bases.some(isOwnBase),
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

/** What a place of a name costs, and a character of a path that is resolved, in characters read. */
const PLACE_STEPS = 16
const RESOLVE_STEPS = 4

function leads(token: string, search: Search, budget: ResolveBudget): boolean {
  // Turned here, where it is short.
  if (token === '' || token.length > PATH_LENGTH_MAX) return false
  budget.stepsLeft -= RESOLVE_STEPS * token.length
  if (--budget.pathsLeft < 0 || budget.stepsLeft < 0) return true
  const turned = token.replaceAll('\\', '/')
  return resolvedFrom(turned, search).some((path) => isOwn(path, search))
}

/** Only for a text that is a path as a whole: each costs a look at the disk. */
function leadsByLink(text: string, search: Search, budget: ResolveBudget): boolean {
  const { realPath } = search
  if (realPath === undefined || /[\n\0]/.test(text)) return false
  if (--budget.linksLeft < 0) return true
  const path = text.replace(FILE_SCHEME, '')
  return resolvedFrom(path, search).some((each) => isOwn(realPath(each) ?? each, search))
}

function resolvedFrom(token: string, { bases }: Search): string[] {
  const rest = token.replace(PREFIX, '')
  if (rest.startsWith('/')) return [resolvePath('', rest)]
  return bases.map((base) => resolvePath(base.replaceAll('\\', '/'), rest))
}

/** Case is folded as file systems do, which takes more letters for one than `i` alone. */
function hintOf(names: readonly string[]): RegExp {
  const escaped = names
    .filter((name) => !OWN_NAMES.has(name))
    .map((name) => name.replace(/[^\w]/gu, inHex))
  return new RegExp([OWN_NAME_HINT, ...new Set(escaped)].join('|'), 'giu')
}

function inHex(letter: string): string {
  return `\\u{${(letter.codePointAt(0) as number).toString(16)}}`
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
