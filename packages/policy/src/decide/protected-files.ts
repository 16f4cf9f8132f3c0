// The built-in guardrail: arguments that name the gate's configuration, policy or data are denied
// whatever the document allows, because an agent with a file tool must not rewrite its own rules.
// Every reading of a text is checked separately (as written, decoded, with either slash); relative
// paths are resolved against every directory a server may use.

import type { ServerPlace } from '../core/call.ts'
import { isObject, type JsonValue } from '../core/json.ts'
import { decodePercent, decodePercentOnce, hasEscapes } from '../core/percent.ts'
import {
  COMBINING_RUN_MAX,
  DECODE_ROUNDS_MAX,
  DECODED_CHARS_MAX,
  NORMALIZED_CHARS_MAX,
  PATH_LENGTH_MAX,
  PATH_STEPS_MAX,
  RESOLVED_PATHS_MAX,
  SEARCHED_CHARS_MAX,
  SEARCHED_TEXTS_MAX,
} from '../language/limits.ts'
import { foldText, hasOtherForms } from './path-readings.ts'
import { leadsByEscapes, leadsToOwnFiles, type ResolveBudget } from './relative-paths.ts'

export const OWN_FILES = "the gate's own files"

/** Whether any text of `value` names one of `paths`; text that is too long to decode or to search counts
 * as naming one. */
export function mentionsProtectedFile(
  value: JsonValue | undefined,
  paths: readonly string[],
  place?: ServerPlace,
): boolean {
  return objectToFiles(value, paths, place) !== undefined
}

/** Why `value` may not pass: it names one of `paths`, or cannot be checked within the limits. */
export function objectToFiles(
  value: JsonValue | undefined,
  paths: readonly string[],
  place: ServerPlace = NOWHERE,
): string | undefined {
  const budget: Budget = {
    charsLeft: DECODED_CHARS_MAX,
    searchedLeft: SEARCHED_CHARS_MAX,
    formsLeft: NORMALIZED_CHARS_MAX,
    stepsLeft: PATH_STEPS_MAX,
    pathsLeft: RESOLVED_PATHS_MAX,
  }
  const search = { paths, place, budget }
  if (!namesAny(value, search)) return undefined
  const { lookup: _, ...left } = budget
  const isChecked = Object.values(left).every((count) => count >= 0)
  return isChecked ? NAMED : UNCHECKED
}

const NAMED = "an argument names the gate's own configuration, policy or data"
const UNCHECKED =
  "an argument is too long, or has too many combining marks, to be checked for names of the gate's own files"

function namesAny(value: JsonValue | undefined, search: FileSearch): boolean {
  if (!isObject(value)) return names(value, search)
  // Top-level keys are parameter names: they need no lookup on disk, which every call of a file
  // server would pay for.
  const without = { ...search, place: withoutLinks(search.place) }
  return Object.keys(value).some((name) => names(name, without) || names(value[name], search))
}

const known = new WeakMap<ServerPlace, ServerPlace>()

/** One object per place: derived values are cached by identity. */
function withoutLinks(place: ServerPlace): ServerPlace {
  if (place.startLookups === undefined) return place
  let found = known.get(place)
  if (found === undefined) {
    const { startLookups: _, ...rest } = place
    found = rest
    known.set(place, found)
  }
  return found
}

const NOWHERE: ServerPlace = { bases: [] }

interface Budget extends ResolveBudget {
  /** Characters that may still be decoded, of all texts of one call. */
  charsLeft: number
  /** Characters that may still be searched, likewise. */
  searchedLeft: number
  /** Characters that may still be normalised. */
  formsLeft: number
}

interface FileSearch {
  readonly paths: readonly string[]
  readonly place: ServerPlace
  /** Shared by all texts of a call, wherever they are resolved. */
  readonly budget: Budget
  /** Texts of lists that were searched: equal ones are searched once. */
  readonly cleared?: Set<string>
}

function names(value: JsonValue | undefined, search: FileSearch): boolean {
  if (typeof value === 'string') return value !== '' && mentions(value, search)
  if (Array.isArray(value)) {
    const within = search.cleared === undefined ? { ...search, cleared: new Set<string>() } : search
    return value.some((item: JsonValue) => names(item, within))
  }
  if (isObject(value))
    return Object.keys(value).some((name) => names(name, search) || names(value[name], search))
  return false
}

function mentions(text: string, search: FileSearch): boolean {
  const { paths, budget, cleared } = search
  if (cleared?.has(text)) return false
  budget.searchedLeft -= text.length
  if (budget.searchedLeft < 0)
    return BASE64.test(text)
      ? paths.some((path) => BASE64.test(path) && text.includes(path))
      : paths.length > 0
  if (paths.some((path) => text.includes(path))) return true
  if (paths.length > 0 && isFoundInReadings(text, search)) return true
  if (text.length <= PATH_LENGTH_MAX && cleared !== undefined && cleared.size < SEARCHED_TEXTS_MAX)
    cleared.add(text)
  return false
}

/** The text as written, decoded once and decoded repeatedly: a server may do any of these. */
function isFoundInReadings(written: string, search: FileSearch): boolean {
  const { paths, place, budget } = search
  // URL parsers drop these.
  const text = FILE_URL.test(written) ? written.replace(/[\t\n\r]/g, '') : written
  if (text !== written && isFoundAsRead(written, search)) return true
  if (isFoundAsRead(text, search)) return true
  let decoded = text
  for (let round = 1; hasEscapes(decoded); round++) {
    budget.charsLeft -= decoded.length
    if (budget.charsLeft < 0) return true
    decoded = round > DECODE_ROUNDS_MAX ? decodePercent(decoded) : decodePercentOnce(decoded)
    if (isFoundAsRead(decoded, search)) return true
  }
  return decoded !== text && decoded.includes('..') && leadsByEscapes(text, paths, place, budget)
}

function isFoundAsRead(text: string, { paths, place, budget }: FileSearch): boolean {
  if (!hasOtherForms(text)) return leadsToOwnFiles(text, paths, place, budget)
  budget.formsLeft -= text.length
  if (COMBINING_RUN.test(text)) budget.formsLeft = -1
  if (budget.formsLeft < 0) return true
  const composed = text.normalize('NFC')
  const folded = foldText(text)
  return (
    leadsToOwnFiles(composed, paths, place, budget) ||
    (folded !== composed.toLowerCase() && leadsToOwnFiles(folded, paths, place, budget))
  )
}

const FILE_URL = /^\s*file:.*[\t\n\r]/is
const COMBINING_RUN = new RegExp(`\\p{M}{${COMBINING_RUN_MAX + 1}}`, 'u')

/** A file in base64 may be as long as the message: it has no other spellings, and no dot of a file's name. */
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/
