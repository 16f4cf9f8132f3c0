// Relative paths that lead to the gate's files: a server resolves them against its working
// directory, the directories among its arguments or the roots its client names. Also finds names of
// the gate's files without a directory. Pure: links are followed by a function the gate passes in,
// for servers that have directories among their arguments or roots.

import type { LinkLookup, ServerPlace } from '../core/call.ts'
import { decodePercent } from '../core/percent.ts'
import { CLIMB_CHARS_MAX } from '../language/limits.ts'
import { namesPathAt, type StepBudget } from './path-mentions.ts'
import { collapsePath, foldPath, foldText, listReadings, shortPaths } from './path-readings.ts'

/** Names that only the gate's files have. As a relative path they are denied for every server. */
const OWN_NAMES: ReadonlySet<string> = new Set([
  'sluice.yaml',
  'sluice.env',
  'sluice.lock',
  'sluice.moved.json',
  'identity.key',
  'identity.db',
  'gate.db',
  'ledger.db',
  'ledger-index.db',
])

/** The same names with common parts factored out: each alternative costs a nanosecond a character. */
const OWN_NAME_HINT =
  'sluice\\.(?:yaml|env|lock|moved\\.json)|identity\\.(?:key|db)|gate\\.db|ledger(?:-index)?\\.db'
const CLIMB = /(?:^|[^.\w])\.\.(?![.\w])/g

/** What ends a path in a command or a sentence. */
const BETWEEN = /[\s"'`;|&<>()=,:]/g
const TOKEN = /[^\s"'`;|&<>()=,:]+/g
/** The ranges that have such characters: trying all 65,536 took 15 ms of every start. */
const BETWEEN_RANGES = [
  [0, 0xff] as const,
  [0x1680, 0x1680] as const,
  [0x2000, 0x206f] as const,
  [0x3000, 0x3000] as const,
  [0xfeff, 0xfeff] as const,
]
const BETWEEN_CODES = new Uint8Array(0x1_0000)
for (const [first, last] of BETWEEN_RANGES)
  for (let code = first; code <= last; code++)
    BETWEEN_CODES[code] = String.fromCharCode(code).search(BETWEEN) + 1

function isBetween(text: string, at: number): boolean {
  return BETWEEN_CODES[text.charCodeAt(at)] === 1
}

interface PathSearch {
  readonly written: readonly string[]
  /** The paths in every form that is searched for in a text. */
  readonly spellings: readonly string[]
  readonly paths: readonly string[]
  readonly bases: readonly string[]
  readonly workDirectory: string | undefined
  /**
   * Matches in every text that names a path, or leads from a base to one: a name of the gate's.
   * Global.
   */
  readonly names: RegExp
  /** A base is within the gate's files: a climb leads there without a name. */
  readonly isClimbing: boolean
  /** A base is within the gate's files: every name leads there. */
  readonly isInside: boolean
}

/** Remaining budget of one call: paths to resolve, their characters, lookups on disk. */
export interface ResolveBudget extends StepBudget {
  pathsLeft: number
  /** Started with the first path that is looked up. */
  lookup?: LinkLookup
}

/** `text` is one reading of a text. An exhausted budget counts as found. */
export function leadsToOwnFiles(
  text: string,
  paths: readonly string[],
  place: ServerPlace,
  budget: ResolveBudget,
): boolean {
  if (paths.length === 0) return false
  const search = searchFor(paths, place)
  if (isOwnPath(text, search, place, budget)) return true
  if (search.isInside && leadsByToken(text, search, budget)) return true
  return leadsByName(text, search, budget) || leadsByClimb(text, search, budget)
}

/**
 * A text that may be a path as a whole. Not if it is too long without its `.` and `..`: most such
 * texts are file contents, and no system opens such a path.
 */
function isOwnPath(
  text: string,
  search: PathSearch,
  place: ServerPlace,
  budget: ResolveBudget,
): boolean {
  const isEvery = search.isInside || place.startLookups !== undefined
  for (const path of shortPaths(text, budget)) {
    if (!isEvery && !isHintedDecoded(path, search)) continue
    if (place.startLookups !== undefined) budget.lookup ??= place.startLookups()
    if (leads(path, search, budget, true)) return true
  }
  return budget.stepsLeft < 0
}

function isHintedDecoded(text: string, search: PathSearch): boolean {
  if (isHinted(text, search)) return true
  const folded = foldText(text.includes('%') ? decodePercent(text) : text)
  return folded !== text && isHinted(folded, search)
}

function isHinted(text: string, { names, isClimbing }: PathSearch): boolean {
  names.lastIndex = 0
  CLIMB.lastIndex = 0
  return names.test(text) || (isClimbing && CLIMB.test(text))
}

/** Tokens of a text with escapes: `..` may be resolved before they are decoded, as `curl` does. */
export function leadsByEscapes(
  text: string,
  paths: readonly string[],
  place: ServerPlace,
  budget: ResolveBudget,
): boolean {
  if (paths.length === 0) return false
  const search = searchFor(paths, place)
  const tokens = new RegExp(TOKEN)
  for (let found = tokens.exec(text); found !== null; found = tokens.exec(text)) {
    const [token] = found
    if (!token.includes('%')) continue
    for (const path of shortPaths(token, budget))
      if (isHintedDecoded(path, search) && leads(path, search, budget)) return true
  }
  return budget.stepsLeft < 0
}

/** Any name leads to the gate's files. */
function leadsByToken(text: string, search: PathSearch, budget: ResolveBudget): boolean {
  const tokens = new RegExp(TOKEN)
  for (let found = tokens.exec(text); found !== null; found = tokens.exec(text))
    if (leadsToken(found[0], search, budget)) return true
  return false
}

/**
 * One search: splitting a long text, or searching for one name after the other, would dominate the
 * cost.
 */
function leadsByName(text: string, search: PathSearch, budget: ResolveBudget): boolean {
  const { names, spellings } = search
  const searched = { text, hasBackslash: text.includes('\\') }
  let read = 0
  for (let at = findIndex(names, text, 0); at >= 0; at = findIndex(names, text, at + 1)) {
    budget.stepsLeft -= PLACE_STEPS
    if (budget.stepsLeft < 0) return true
    if (spellings.some((path) => namesPathAt(searched, at, path, budget))) return true
    if (at < read) continue
    const [start, end] = tokenAround(text, at, read)
    if (leadsToken(text.slice(start, end), search, budget)) return true
    read = end
  }
  return false
}

function leadsByClimb(text: string, search: PathSearch, budget: ResolveBudget): boolean {
  if (!search.isClimbing || !text.includes('..')) return false
  if (text.length > CLIMB_CHARS_MAX) return true
  for (let at = findIndex(CLIMB, text, 0); at >= 0; ) {
    // The match includes the character before it.
    const [start, end] = tokenAround(text, isBetween(text, at) ? at + 1 : at, 0)
    if (leadsToken(text.slice(start, end), search, budget)) return true
    at = findIndex(CLIMB, text, end)
  }
  return false
}

function findIndex(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from
  return pattern.exec(text)?.index ?? -1
}

/** Returns the token around `at`, which does not begin before `from`. */
function tokenAround(text: string, at: number, from: number): [start: number, end: number] {
  let start = at
  while (start > from && !isBetween(text, start - 1)) start--
  const end = findIndex(BETWEEN, text, at)
  return [start, end < 0 ? text.length : Math.max(end, at + 1)]
}

/** Both objects live as long as the session: derived values are cached. */
const known = new WeakMap<ServerPlace, PathSearch>()

function searchFor(paths: readonly string[], place: ServerPlace): PathSearch {
  let search = known.get(place)
  if (search === undefined || search.written.some((path, at) => path !== paths[at])) {
    const folded = paths.map(foldPath)
    const bases = place.bases.map(foldPath)
    const workDirectory =
      place.workDirectory === undefined ? undefined : foldPath(place.workDirectory)
    const isOwnBase = (base: string) => folded.some((path) => isWithin(base, path))
    search = {
      written: paths,
      paths: folded,
      bases: place.bases,
      workDirectory,
      spellings: [...new Set([...paths, ...paths.map(toNfc), ...folded])],
      names: createHint(
        [...folded, ...paths.map((path) => toNfc(path).toLowerCase())].map(getLastSegment),
      ),
      isClimbing: bases.some(isOwnBase),
      isInside: bases.some((base) => base !== workDirectory && isOwnBase(base)),
    }
    known.set(place, search)
  }
  return search
}

function toNfc(path: string): string {
  return path.normalize('NFC')
}

function getLastSegment(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** `path` is one reading. Absolute paths are compared as a whole. */
function isOwnName(path: string): boolean {
  const whole = path.trim()
  return (
    !whole.startsWith('/') && OWN_NAMES.has(foldText(getLastSegment(collapsePath(whole)).trim()))
  )
}

/**
 * Cost of an occurrence of a name, and of a character of a path that is resolved, in characters
 * read.
 */
const PLACE_STEPS = 16
const RESOLVE_STEPS = 4

/**
 * A token that contains a name of the gate's. If it is too long for a path it counts as found,
 * unless it is encoded data, which contains names by chance.
 */
function leadsToken(token: string, search: PathSearch, budget: ResolveBudget): boolean {
  const paths = shortPaths(token, budget)
  if (paths.length === 0) return budget.stepsLeft < 0 || !DATA.test(token)
  return paths.some((path) => leads(path, search, budget))
}

const DATA = /^[\w+/=-]*$/

/**
 * Whether any reading of `path` leads to the gate's files; `isWhole` if it is a complete text,
 * which is looked up on disk and compared with the names that only the gate's files have.
 */
function leads(path: string, search: PathSearch, budget: ResolveBudget, isWhole = false): boolean {
  if (path === '') return false
  const readings = listReadings(path, budget)
  return (
    readings === undefined ||
    readings.some((reading) => leadsAsRead(reading, search, budget, isWhole))
  )
}

function leadsAsRead(
  path: string,
  search: PathSearch,
  budget: ResolveBudget,
  isWhole: boolean,
): boolean {
  if (path === '') return false
  budget.stepsLeft -= Math.max(RESOLVE_STEPS, search.bases.length) * path.length
  if (--budget.pathsLeft < 0 || budget.stepsLeft < 0) return true
  if (isWhole && isOwnName(path)) return true
  const { lookup } = budget
  return resolvedFrom(path, search).some(
    (each) =>
      isOwn(each, search) ||
      (isWhole && lookup !== undefined && isOwn(lookup(each) ?? each, search)),
  )
}

function resolvedFrom(path: string, { bases }: PathSearch): string[] {
  if (path.startsWith('/')) return [resolvePath('', path)]
  return bases.map((base) => resolvePath(base.replaceAll('\\', '/'), path))
}

/** Folds case as file systems do, which treat more letters as equal than `i` alone. */
function createHint(names: readonly string[]): RegExp {
  const escaped = names
    .filter((name) => !OWN_NAMES.has(name))
    .map((name) => name.replace(/[^\w]/gu, inHex))
  return new RegExp([OWN_NAME_HINT, ...new Set(escaped)].join('|'), 'giu')
}

function inHex(letter: string): string {
  return `\\u{${(letter.codePointAt(0) as number).toString(16)}}`
}

function isOwn(path: string, { paths, workDirectory }: PathSearch): boolean {
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
