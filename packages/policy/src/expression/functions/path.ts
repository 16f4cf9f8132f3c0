// `path(x).within(dir)`: whether a path an agent names is under a directory a policy names. Called
// by the CEL environment. A server may or may not decode percent signs, read `\` as `/`, fold case
// or drop trailing dots, so every reading is resolved: all inside is true, all outside is false,
// anything else is undecidable. Covers climbs (`..`), also encoded, doubly encoded or split over
// two readings, look-alike slashes, drives and network paths. Decides on the text only: symbolic
// links are not in it.

import { UndecidableError } from './undecidable-error.ts'

/** In UTF-16 code units; every reading of the longest path is resolved within a millisecond. */
const PATH_LENGTH_MAX = 1_024
const DECODE_ROUNDS_MAX = 8

const EITHER_SEPARATOR = /[\\/]/
const DRIVE = /^[A-Za-z]:/
const ENCODED = /(?:%[0-9A-Fa-f]{2})+/g
const DOTS_ONLY = /^[\s.+]*$/u
/** What some file systems ignore when they compare names. */
const IGNORED = /\p{Cf}/gu
/** Links of the kernel that lead back to the root, to any directory or to open files. */
const KERNEL_LINKS: ReadonlyMap<string, readonly string[]> = new Map([
  ['proc', ['root', 'cwd', 'fd', 'map_files']],
  ['dev', ['fd']],
])

const UNCLEAR: readonly (readonly [RegExp, string])[] = [
  [/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u, 'a control character or half a character in a path'],
  [/^[~$]/, 'a path that starts at a home directory or a variable'],
  [/^\s/u, 'a path that starts with a space'],
  [/^[\\/]{2}/, 'a network path'],
  [/^[A-Za-z]:(?![\\/])/, 'a path relative to a drive'],
  [/^[\\/][A-Za-z]:(?:[\\/]|$)/, 'a drive after a slash'],
  [/^[A-Za-z][A-Za-z0-9+.-]+:/, 'a URL instead of a path'],
  // `%u002e` is a dot to IIS, `%２ｅ` to decoders that accept any digit as a hexadecimal one.
  [/%(?:u[0-9A-Fa-f]{4}|\P{ASCII})/u, 'an encoding only some decoders know'],
  // Turned into `.`, `/` or `\` by best-fit code pages or Unicode normalisation.
  [/[\u2024\u2025\ufe52\uff0e]/u, 'a look-alike of a dot in a path'],
  [/[\u2044\u2215\u29f8\u2216\u29f5\u29f9\u00a5\u20a9]/u, 'a look-alike of a slash in a path'],
  [/\p{M}{31}/u, 'a pile of combining marks'],
]

/** Where one reading of a path leads. */
interface ResolvedPath {
  /** `/`, a drive such as `c:`, or nothing for a relative path. */
  readonly root: string
  readonly segments: readonly string[]
}

export class PolicyPath {
  readonly text: string
  readonly places: readonly ResolvedPath[]

  constructor(text: string, places: readonly ResolvedPath[]) {
    this.text = text
    this.places = places
  }
}

/** Every reading of `text`; throws UndecidableError if one of them leads to an unknown place. */
export function parsePolicyPath(text: string): PolicyPath {
  if (text === '') throw new UndecidableError('an empty path', text)
  if (text.length > PATH_LENGTH_MAX) throw new UndecidableError('a path that is too long', text)
  const bare = stripFileUrl(text)
  const stages = decodeUntilStable(bare)
  for (const stage of stages) refuseUnclear(stage)
  const last = stages.at(-1) as string
  const climbs = last.split(EITHER_SEPARATOR).includes('..')
  // Normalising before decoding leads to a different path than decoding first.
  const hides = structure(bare) !== structure(last) || (last.includes('\\') && !DRIVE.test(last))
  if (climbs && hides)
    throw new UndecidableError('a climb next to encoded or reversed slashes', text)
  // Read as a file name, a URL is a path relative to a directory called `file:`.
  if (climbs && bare !== text) throw new UndecidableError('a climb in a file URL', text)
  return new PolicyPath(text, stages.flatMap(readStage))
}

/** Whether `path` is `dir` or below it; a `dir` that is not plain is a RangeError. */
export function isInsideDirectory(path: PolicyPath, dir: string): boolean {
  const home = parseDir(dir)
  const verdicts = new Set(path.places.map((place) => compareWithDirectory(place, home)))
  if (verdicts.size > 1 || verdicts.has('unclear')) {
    throw new UndecidableError(`whether a path is within \`${dir}\``, path.text)
  }
  return verdicts.has('inside')
}

function compareWithDirectory(
  place: ResolvedPath,
  home: ResolvedPath,
): 'inside' | 'outside' | 'unclear' {
  // Relative, absolute and on a drive: these cannot be compared with each other.
  if (place.root.length !== home.root.length) return 'unclear'
  if (place.root !== home.root) return 'outside'
  if (place.segments.length < home.segments.length) return 'outside'
  const top = place.segments.slice(0, home.segments.length)
  if (top.every((segment, at) => segment === home.segments[at])) return 'inside'
  const names = home.segments.map(lenientName)
  return top.every((segment, at) => lenientName(segment) === names[at]) ? 'unclear' : 'outside'
}

/** The directory a policy names: one reading, or a RangeError. */
function parseDir(dir: string): ResolvedPath {
  const plain =
    dir !== '' &&
    dir.length <= PATH_LENGTH_MAX &&
    !dir.includes('%') &&
    (!dir.includes('\\') || DRIVE.test(dir)) &&
    !dir.split(EITHER_SEPARATOR).includes('..')
  if (!plain) throw new RangeError(notPlain(dir))
  try {
    refuseUnclear(dir)
    const place = toPlace(dir, EITHER_SEPARATOR)
    if (place.segments.every((segment) => segment === windowsName(segment))) return place
  } catch (cause) {
    throw new RangeError(notPlain(dir), { cause })
  }
  throw new RangeError(notPlain(dir))
}

function notPlain(dir: string): string {
  return `\`${dir}\` is not a plain directory: write it in full, without \`..\` and encodings`
}

/** `file:///srv/x` is `/srv/x`; hosts, queries and odd slashes remain, to be refused as URLs. */
function stripFileUrl(text: string): string {
  if (!/^file:\/\/\/(?!\/)[^?#|\\]*$/i.test(text)) return text
  const path = text.slice('file://'.length)
  return /^\/[A-Za-z]:\//.test(path) ? path.slice(1) : path
}

function decodeUntilStable(text: string): string[] {
  const stages = [text]
  let latest = text
  for (let round = 0; round <= DECODE_ROUNDS_MAX; round++) {
    const next = decodeOnce(latest)
    if (next === latest) return stages
    stages.push(next)
    latest = next
  }
  throw new UndecidableError('a path encoded too many times', text)
}

/** `%zz` stays unchanged; `%c0%ae`, an overlong dot, and other invalid UTF-8 is undecidable. */
function decodeOnce(text: string): string {
  try {
    return text.replace(ENCODED, (run) => decodeURIComponent(run))
  } catch {
    throw new UndecidableError('a percent sequence that is not UTF-8', text)
  }
}

function refuseUnclear(text: string): void {
  for (const [pattern, what] of UNCLEAR)
    if (pattern.test(text)) throw new UndecidableError(what, text)
  if (separators(text) !== separators(text.normalize('NFKC'))) {
    throw new UndecidableError('a look-alike of a slash in a path', text)
  }
}

function separators(text: string): number {
  return text.split(/[\\/%]/).length
}

/** Grows when decoding reveals a separator, `.` or `..`. */
function structure(text: string): number {
  const pieces = text.split(EITHER_SEPARATOR)
  return pieces.length + pieces.filter((piece) => piece === '.' || piece === '..').length
}

function readStage(text: string): ResolvedPath[] {
  if (DRIVE.test(text)) return [toPlace(text, EITHER_SEPARATOR)]
  const place = toPlace(text, '/')
  return text.includes('\\') ? [place, toPlace(text, EITHER_SEPARATOR)] : [place]
}

function toPlace(text: string, separator: string | RegExp): ResolvedPath {
  const drive = DRIVE.exec(text)?.[0].toLowerCase()
  const pieces = (drive ? text.slice(drive.length) : text).split(separator)
  const root = drive ?? (pieces[0] === '' ? '/' : '')
  const segments: string[] = []
  for (const piece of pieces) {
    if (piece === '' || piece === '.') continue
    if (piece !== '..') segments.push(clearName(piece, root, segments[0]))
    else if (segments.pop() === undefined && root === '') {
      throw new UndecidableError('a relative path that climbs above its start', text)
    }
  }
  return { root, segments }
}

function clearName(piece: string, root: string, top: string | undefined): string {
  // `...`, `.. ` and `..::$DATA` are names to some systems and climbs to others.
  if (!/^\w/.test(piece) && DOTS_ONLY.test(fold(beforeColon(piece)))) {
    throw new UndecidableError('a name of dots', piece)
  }
  if (root.length === 2 && /~\d/.test(piece)) throw new UndecidableError('a short name', piece)
  if (root === '/' && top !== undefined && KERNEL_LINKS.get(top)?.includes(piece)) {
    throw new UndecidableError('a link of the kernel', `/${top}/${piece}`)
  }
  return piece
}

/** The form of a segment that the most lenient file systems compare. */
function lenientName(segment: string): string {
  return windowsName(fold(segment))
}

/** The name that Windows opens: without a stream after a colon, and without dots and spaces at the end. */
function windowsName(segment: string): string {
  const name = beforeColon(segment)
  let end = name.length
  while (end > 0 && /[\s.]/.test(name.charAt(end - 1))) end--
  return name.slice(0, end)
}

function beforeColon(segment: string): string {
  const colon = segment.indexOf(':')
  return colon === -1 ? segment : segment.slice(0, colon)
}

/** Upper before lower case, since only that maps `ſ` and `ß` to `s` and `ss`. */
function fold(name: string): string {
  return name.normalize('NFKC').replace(IGNORED, '').toUpperCase().toLowerCase()
}
