// The guardrail that is always there: arguments that name the gate's own configuration, policy or
// data are denied, whatever the document says; an agent with a file tool must not rewrite the rules
// it lives under. Text is searched as written, decoded and with its slashes turned; relative paths are
// resolved against the places a server may look in.

import type { ServerPlace } from '../core/call.ts'
import { isObject, type JsonValue } from '../core/json.ts'
import { decodePercent } from '../core/percent.ts'
import { DECODED_CHARS_MAX, LINKED_PATHS_MAX, RESOLVED_PATHS_MAX } from './limits.ts'
import { leadsToOwnFiles, type ResolveBudget } from './relative-paths.ts'

export const OWN_FILES = "the gate's own files"

/** Whether any text of `value` names one of `paths`; text that is too long to decode counts as naming one. */
export function namesOwnFiles(
  value: JsonValue | undefined,
  paths: readonly string[],
  place: ServerPlace = NOWHERE,
): boolean {
  const budget = {
    charsLeft: DECODED_CHARS_MAX,
    pathsLeft: RESOLVED_PATHS_MAX,
    linksLeft: LINKED_PATHS_MAX,
    place,
  }
  if (!isObject(value)) return names(value, paths, budget)
  // The outermost keys are names of parameters: they need no look at the disk, which every call of a
  // file server would pay for.
  const without = place.realPath === undefined ? budget : { ...budget, place: withoutLinks(place) }
  return Object.keys(value).some(
    (name) => names(name, paths, without) || names(value[name], paths, budget),
  )
}

const known = new WeakMap<ServerPlace, ServerPlace>()

/** One object for each place: what is derived from a place is kept by identity. */
function withoutLinks(place: ServerPlace): ServerPlace {
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
  readonly place: ServerPlace
}

function names(value: JsonValue | undefined, paths: readonly string[], budget: Budget): boolean {
  if (typeof value === 'string') return value !== '' && mentions(value, paths, budget)
  if (Array.isArray(value)) return value.some((item: JsonValue) => names(item, paths, budget))
  if (isObject(value))
    return Object.keys(value).some(
      (name) => names(name, paths, budget) || names(value[name], paths, budget),
    )
  return false
}

function mentions(text: string, paths: readonly string[], budget: Budget): boolean {
  if (paths.some((path) => text.includes(path))) return true
  if (!/[%\\]|\/\.|\/\//.test(text)) return leadsToOwnFiles(text, paths, budget.place, budget)
  if (/%[0-9a-f]{2}/i.test(text)) {
    budget.charsLeft -= text.length
    if (budget.charsLeft < 0) return paths.length > 0
  }
  const turned = decodePercent(text).replaceAll('\\', '/')
  const plain = normalise(turned)
  if (paths.some((path) => plain.includes(path))) return true
  return leadsToOwnFiles(turned, paths, budget.place, budget)
}

/** With `.` and `..` taken out. */
function normalise(turned: string): string {
  const [first, ...rest] = turned.split('/') as [string, ...string[]]
  // The first part stays whatever climbs: above the root is the root.
  const parts = [first === '.' || first === '..' ? '' : first]
  for (const part of rest) {
    if (part !== '' && part !== '.' && part !== '..') parts.push(part)
    else if (part === '..' && parts.length > 1) parts.pop()
  }
  return parts.join('/')
}
