// Rebuilds members of `params`: parsed value and text together, so that what a transport writes and
// what it repeats in headers have one source. Pure.

import type { JsonObject, JsonValue } from '@sluice/policy/values/json'
import { splitElements, splitMembers } from './json/raw-members.ts'
import type { ParsedMembers } from './message.ts'
import { writeMembers } from './write-message.ts'

/** Replaces members by `texts`; undefined removes a member. */
export function withMembers(
  members: ParsedMembers | undefined,
  texts: Readonly<Record<string, string | undefined>>,
): ParsedMembers {
  const value: Record<string, JsonValue> = { ...members?.value }
  const text = new Map(members?.text)
  for (const [key, written] of Object.entries(texts)) {
    if (written === undefined) {
      delete value[key]
      text.delete(key)
    } else {
      value[key] = JSON.parse(written) as JsonValue
      text.set(key, written)
    }
  }
  return { value, text }
}

/** Reads the members of a text that the strict reader has accepted. */
export function readMembers(text: string): ParsedMembers {
  return { value: JSON.parse(text) as JsonObject, text: splitMembers(text) }
}

/** The text of an object member with some of its own members replaced or removed. */
export function patchObject(
  text: string | undefined,
  texts: Readonly<Record<string, string | undefined>>,
): string {
  const members = splitMembers(text ?? '{}')
  for (const [key, written] of Object.entries(texts)) {
    if (written === undefined) members.delete(key)
    else members.set(key, written)
  }
  return writeMembers(members)
}

/** The text of an object with one member of it, named by its path, changed; unchanged if the member is
 * missing. */
export function editMember(
  text: string,
  [key = '', ...rest]: readonly string[],
  change: (text: string) => string,
): string {
  const members = splitMembers(text)
  const member = members.get(key)
  if (member === undefined) return text
  const changed = rest.length === 0 ? change(member) : editMember(member, rest, change)
  if (changed === member) return text
  return writeMembers(members.set(key, changed))
}

/** The text of an array with every element changed. */
export function editElements(text: string, change: (text: string) => string): string {
  return `[${[...splitElements(text)].map(change).join(',')}]`
}
