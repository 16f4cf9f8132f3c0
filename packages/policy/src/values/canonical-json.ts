// Canonical JSON: one text per value, members in the order of their names (UTF-16 code units), no spaces,
// numbers by their digits. Pins, exports and approvals are digests or signatures of this text: its bytes
// never change. approvals/json-text.ts makes the same form of a text without parsing its numbers. Pure.

import { ExactNumber, isObject, type JsonValue } from './json.ts'

/** Members that are undefined are left out. */
export function writeCanonicalJson(value: JsonValue | undefined): string {
  if (value instanceof ExactNumber) return value.text
  if (Array.isArray(value))
    return `[${value.map((item: JsonValue) => writeCanonicalJson(item)).join(',')}]`
  if (!isObject(value)) return JSON.stringify(value) ?? 'null'
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return joinMembers(
    sortMembers(members).map(([name, member]) => [name, writeCanonicalJson(member)]),
  )
}

/** Sorts in place. */
export function sortMembers<Value>(members: [name: string, value: Value][]): typeof members {
  return members.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
}

/** An object of members that are JSON text already. */
export function joinMembers(members: readonly (readonly [name: string, text: string])[]): string {
  return `{${members.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`
}
