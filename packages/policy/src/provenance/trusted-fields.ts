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

const STRINGS = /"(?:[^"\\]|\\.)*"(\s*:)?/g

/** Whether a member stands twice in one object of a JSON text: readers differ in which of them they take. */
export function hasDoubledMember(text: string, document: JsonValue): boolean {
  let written = 0
  for (const [, colon] of text.matchAll(STRINGS)) if (colon !== undefined) written++
  return written !== countMembers(document)
}

function countMembers(value: JsonValue): number {
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return 0
  const inner = Object.values(value as object).reduce<number>(
    (sum, one) => sum + countMembers(one),
    0,
  )
  return Array.isArray(value) ? inner : inner + Object.keys(value).length
}
