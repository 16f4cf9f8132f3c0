// The guardrail that is always there: arguments that name the gate's own configuration, policy or
// data are denied, whatever the document says; an agent with a file tool must not rewrite the rules
// it lives under. Text is searched as written and decoded, with either slash; relative paths are resolved
// against the places a server may look in.

import type { ServerPlace } from '../core/call.ts'
import { isObject, type JsonValue } from '../core/json.ts'
import { decodePercent } from '../core/percent.ts'
import {
  DECODED_CHARS_MAX,
  LINKED_PATHS_MAX,
  PATH_STEPS_MAX,
  RESOLVED_PATHS_MAX,
  SEARCHED_CHARS_MAX,
} from './limits.ts'
import { leadsToOwnFiles, type ResolveBudget } from './relative-paths.ts'

export const OWN_FILES = "the gate's own files"

/** Whether any text of `value` names one of `paths`; text that is too long to decode or to search counts
 * as naming one. */
export function namesOwnFiles(
  value: JsonValue | undefined,
  paths: readonly string[],
  place: ServerPlace = NOWHERE,
): boolean {
  const budget: Budget = {
    charsLeft: DECODED_CHARS_MAX,
    searchedLeft: SEARCHED_CHARS_MAX,
    stepsLeft: PATH_STEPS_MAX,
    pathsLeft: RESOLVED_PATHS_MAX,
    linksLeft: LINKED_PATHS_MAX,
  }
  const search = { paths, place, budget }
  if (!isObject(value)) return names(value, search)
  // The outermost keys are names of parameters: they need no look at the disk, which every call of a
  // file server would pay for.
  const without = { paths, place: withoutLinks(place), budget }
  return Object.keys(value).some((name) => names(name, without) || names(value[name], search))
}

const known = new WeakMap<ServerPlace, ServerPlace>()

/** One object for each place: what is derived from a place is kept by identity. */
function withoutLinks(place: ServerPlace): ServerPlace {
  if (place.realPath === undefined) return place
  let found = known.get(place)
  if (found === undefined) {
    const { realPath: _, ...rest } = place
    found = rest
    known.set(place, found)
  }
  return found
}

const NOWHERE: ServerPlace = { bases: [] }

interface Budget extends ResolveBudget {
  /** Characters that may still be decoded, of all texts of one call. */
  charsLeft: number
  /** Characters that may still be searched, of the same. */
  searchedLeft: number
}

interface Search {
  readonly paths: readonly string[]
  readonly place: ServerPlace
  /** One for all texts of a call, wherever they are resolved. */
  readonly budget: Budget
}

function names(value: JsonValue | undefined, search: Search): boolean {
  if (typeof value === 'string') return value !== '' && mentions(value, search)
  if (Array.isArray(value)) return value.some((item: JsonValue) => names(item, search))
  if (isObject(value))
    return Object.keys(value).some((name) => names(name, search) || names(value[name], search))
  return false
}

function mentions(text: string, { paths, place, budget }: Search): boolean {
  if (paths.some((path) => text.includes(path))) return true
  budget.searchedLeft -= text.length
  if (budget.searchedLeft < 0 && !BASE64.test(text)) return paths.length > 0
  let decoded = text
  if (text.includes('%') && /%[0-9a-f]{2}/i.test(text)) {
    budget.charsLeft -= text.length
    if (budget.charsLeft < 0) return paths.length > 0
    decoded = decodePercent(text)
  }
  return leadsToOwnFiles(decoded, paths, place, budget)
}

/** A file in base64 may be as long as the message: nothing in it has to be undone. */
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/
