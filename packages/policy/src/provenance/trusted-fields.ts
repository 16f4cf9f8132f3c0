// The values of an answer that stand in fields which `trust` of the policy names. A value is trusted only
// as a whole: an object at the end of a path is not covered. Bounded: what is nested deeper is not trusted.

import { ExactNumber, isObject, type JsonValue } from '../core/json.ts'
import type { TrustedField } from '../core/provenance.ts'
import { ANSWER_DEPTH_MAX } from './limits.ts'

/** Visits every text and number at the end of the path; lists are passed through. */
export function visitTrusted(
  value: JsonValue,
  path: TrustedField['path'],
  visit: (text: string) => void,
): void {
  const everything = path.length === 0
  const walk = (one: JsonValue, at: number, depth: number): void => {
    if (depth > ANSWER_DEPTH_MAX) return
    if (Array.isArray(one)) for (const item of one) walk(item, at, depth + 1)
    else if (one instanceof ExactNumber) walk(one.text, at, depth)
    else if (isObject(one)) {
      const part = everything ? '*' : path[at]
      if (part === '$key') for (const name of Object.keys(one)) visit(name)
      else if (part === '*')
        for (const member of Object.values(one)) walk(member, at + 1, depth + 1)
      else if (part !== undefined && Object.hasOwn(one, part))
        walk(one[part] as JsonValue, at + 1, depth + 1)
    } else if (
      (everything || at === path.length) &&
      (typeof one === 'string' || typeof one === 'number')
    )
      visit(String(one))
  }
  walk(value, 0, 0)
}

/** Whether a member stands twice in one object of a JSON text: readers differ in which of them they take. */
export function hasDoubledMember(text: string, document: JsonValue): boolean {
  return countNames(text) !== countMembers(document)
}

const COLON = 0x3a
const BACKSLASH = 0x5c
const BLANK = 0x20

/** Names of members in a JSON text: strings with a colon behind them. */
function countNames(text: string): number {
  let count = 0
  let open = text.indexOf('"')
  while (open !== -1) {
    let close = text.indexOf('"', open + 1)
    while (isEscaped(text, close)) close = text.indexOf('"', close + 1)
    let next = close + 1
    while (text.charCodeAt(next) <= BLANK) next++
    if (text.charCodeAt(next) === COLON) count++
    open = text.indexOf('"', next)
  }
  return count
}

function isEscaped(text: string, at: number): boolean {
  let start = at
  while (text.charCodeAt(start - 1) === BACKSLASH) start--
  return (at - start) % 2 === 1
}

function countMembers(value: JsonValue): number {
  let count = 0
  if (Array.isArray(value)) for (const item of value) count += countMembers(item)
  else if (isObject(value))
    for (const name in value) count += 1 + countMembers(value[name] as JsonValue)
  return count
}
