// Every way in which a server may read a path: as written, percent-decoded, with backslashes as
// separators, with `..` resolved before or after decoding, without a `file:` scheme. Parsers that
// differ in one of these open different files, so each reading is checked separately. Pure.

import { decodePercentOnce, hasEscapes } from '../core/percent.ts'
import { PATH_LENGTH_MAX, PATH_READINGS_MAX } from '../language/limits.ts'
import type { StepBudget } from './path-mentions.ts'

const CLIMBS = /(?:^|\/)\.\.(?:\/|$)/
/** A home directory or variable prefix: the rest is tried in every directory. */
const PREFIX = /^(?:~|\$\{?\w+\}?|%\w+%)\/+/
/** Parts of a file URI that servers strip: the scheme, the slashes, the host. */
const FILE_SCHEMES = [/^\s*file:/i, /^\s*file:\/\//i, /^\s*file:\/\/[^/]*(?=\/)/i] as const
const REWRITTEN = /[%\\~$?#]|^\s*file:/i
const BEYOND_ASCII = /[\u0080-\uffff]/

/** The readings of `path`, or undefined if there are more than the limit. */
export function listReadings(path: string, budget: StepBudget): readonly string[] | undefined {
  if (!REWRITTEN.test(path)) return [path]
  const readings = new Set([path])
  // A set is iterated in insertion order, including what is added meanwhile: this is the closure.
  for (const reading of readings) {
    budget.stepsLeft -= reading.length
    for (const next of listRewrites(reading)) readings.add(next)
    if (readings.size > PATH_READINGS_MAX || budget.stepsLeft < 0) return undefined
  }
  return [...readings]
}

/** Lists other readings of a path. No reading is longer than `path`, so the closure is finite. */
function listRewrites(path: string): string[] {
  const readings: string[] = []
  if (hasEscapes(path)) {
    // WHATWG URL parsers treat `%2e` as a dot before they decode anything else.
    readings.push(decodePercentOnce(path), path.replace(/%2e/gi, '.'))
  }
  if (path.includes('\\')) readings.push(path.replaceAll('\\', '/'))
  // Resolving is the last step anyway: before another one it may lead to a different path.
  if (REWRITTEN.test(path) && CLIMBS.test(path)) readings.push(collapsePath(path))
  if (PREFIX.test(path)) readings.push(path.replace(PREFIX, ''))
  for (const scheme of FILE_SCHEMES) if (scheme.test(path)) readings.push(path.replace(scheme, ''))
  const query = path.search(/[?#]/)
  if (query > 0 && !path.includes('\n')) readings.push(path.slice(0, query))
  return readings
}

/** Removes `.`, `..` and empty segments; climbs above the start of a relative path remain. */
export function collapsePath(path: string): string {
  const isAbsolute = path.startsWith('/')
  const segments: string[] = []
  for (const segment of path.split('/')) {
    if (segment === '' || segment === '.') continue
    if (segment !== '..') segments.push(segment)
    else if (segments.length > 0 && segments.at(-1) !== '..') segments.pop()
    else if (!isAbsolute) segments.push('..')
  }
  return (isAbsolute ? '/' : '') + segments.join('/')
}

/**
 * `text` if it is short enough to be a path, or else the text without its `.` and `..`, with either
 * meaning of a backslash. Empty if that is too long as well.
 */
export function shortPaths(text: string, budget: StepBudget): readonly string[] {
  if (text.length <= PATH_LENGTH_MAX) return [text]
  const readings: string[] = []
  if (isShortCollapsed(text, false, budget)) readings.push(collapsePath(text))
  if (text.includes('\\') && isShortCollapsed(text, true, budget))
    readings.push(collapsePath(text.replaceAll('\\', '/')))
  return readings
}

/**
 * Reads backwards and stops as soon as more is left than a path may have: a long text without
 * climbs costs no more than a long path.
 */
function isShortCollapsed(text: string, isTurned: boolean, budget: StepBudget): boolean {
  const near = text.length - PATH_LENGTH_MAX - 1
  if (!text.includes('/', near) && !(isTurned && text.includes('\\', near))) return false
  let climbs = 0
  let depth = 0
  let slash = text.length
  let backslash = isTurned ? text.length : -1
  for (let end = text.length; end >= 0; ) {
    // Each separator is searched once: a text with only one kind would otherwise be read whole for
    // every segment.
    if (slash >= end) slash = end === 0 ? -1 : text.lastIndexOf('/', end - 1)
    if (backslash >= end) backslash = end === 0 ? -1 : text.lastIndexOf('\\', end - 1)
    const start = Math.max(slash, backslash)
    const length = end - start - 1
    budget.stepsLeft -= Math.min(length, PATH_LENGTH_MAX) + 1
    // Callers treat an exhausted budget as a match.
    if (budget.stepsLeft < 0) return false
    if (length === 2 && text.startsWith('..', start + 1)) climbs++
    else if (length > 1 || (length === 1 && text[start + 1] !== '.')) {
      if (climbs > 0) climbs--
      else depth += length + 1
    }
    if (depth > PATH_LENGTH_MAX + 1) return false
    end = start
  }
  return true
}

/** Two ligatures that expand to whole sentences: they would make a text 18 times as long. */
const LIGATURES = /[\ufdfa\ufdfb]/g

/** Folds a path for comparison: file systems ignore case, and canonical or compatibility forms of letters. */
export function foldPath(path: string): string {
  return foldText(path.replaceAll('\\', '/'))
}

export function foldText(text: string): string {
  if (!isBeyondAscii(text)) return text.toLowerCase()
  // Upper case first: `ß` and `ss`, or `ſ` and `s`, are one name if case is ignored.
  return text
    .replace(LIGATURES, ' ')
    .normalize('NFKC')
    .toUpperCase()
    .toLowerCase()
    .normalize('NFKC')
}

function isBeyondAscii(text: string): boolean {
  return BEYOND_ASCII.test(text)
}

/**
 * Letters other than those without a second form, which most texts consist of: Latin-1, Cyrillic,
 * Kana, Han, Hangul, dashes and quotes.
 */
const OTHER_FORMS =
  /[\u0080-\u00bf\u00df\u0100-\u03ff\u0500-\u2012\u2015-\u2017\u201f-\u3000\u3040\u3097-\u4dff\ua000-\uabff\ud7a4-\uffff]/

export function hasOtherForms(text: string): boolean {
  return OTHER_FORMS.test(text)
}
