// Walks the values of an answer, and says of each what `trust` of the policy says of the field that it stands in. A
// value is trusted only as a whole: an object at the end of a path is not covered.

import type { TrustedField, TrustWord } from '../calls/provenance.ts'
import { memoizeFor } from '../structures/memoize.ts'
import { ExactNumber, isObject, type JsonObject, type JsonValue } from '../values/json.ts'
import { ANSWER_DEPTH_MAX } from './limits.ts'

/** The paths of a list, by their parts. */
export interface TrustTree {
  /** The word of `trust` for a value here; undefined if the policy has none. */
  readonly word: TrustWord | undefined
  /** The word for the names of the members of an object here. */
  readonly keys: TrustWord | undefined
  readonly members: ReadonlyMap<string, TrustTree>
  readonly any: TrustTree | undefined
}

/** Made once for an entry of the policy. */
export const treeOf = memoizeFor(growTree)

/** Makes the tree of paths. If several paths lead to one field, `address` counts. */
function growTree(fields: readonly TrustedField[]): TrustTree {
  const wordOf = (list: readonly TrustedField[]) =>
    list.find(({ word }) => word === 'address')?.word ?? list[0]?.word
  const below = (...parts: string[]) =>
    growTree(
      fields.flatMap(({ path: [first = '', ...path], word }) =>
        parts.includes(first) ? [{ path, word }] : [],
      ),
    )
  const parts = new Set(fields.map(({ path }) => path[0] ?? ''))
  const names = [...parts].filter((part) => !['', '*', '$key'].includes(part))
  return {
    word: wordOf(fields.filter(({ path }) => path.length === 0)),
    keys: wordOf(fields.filter(({ path }) => path[0] === '$key')),
    members: new Map(names.map((name) => [name, below(name, '*')])),
    any: parts.has('*') ? below('*') : undefined,
  }
}

export interface FieldVisitor {
  /** A text or number, and the name of the member that it stands in. */
  readonly field: (text: string, name: string, word: TrustWord | undefined) => void
  readonly member: (name: string, isInner: boolean, word: TrustWord | undefined) => void
}

/** Lists are passed through. False if something is nested too deeply to be visited. */
export function visitFields(
  document: JsonValue,
  tree: TrustTree | undefined,
  { field, member }: FieldVisitor,
): boolean {
  // A text that is no document holds names, not addresses.
  const isText = typeof document === 'string'
  const everything = tree?.word && isText ? 'id' : tree?.word
  let isWhole = true
  let depth = 0
  const visit = (
    one: JsonValue,
    name: string,
    at: TrustTree | undefined,
    isInner: boolean,
  ): void => {
    if (typeof one === 'string') return field(one, name, at?.word ?? everything)
    if (typeof one === 'number') return field(String(one), name, at?.word ?? everything)
    if (one instanceof ExactNumber) return field(one.text, name, at?.word ?? everything)
    if (typeof one === 'boolean' || one === null) return
    if (depth++ > ANSWER_DEPTH_MAX) isWhole = false
    else if (Array.isArray(one)) for (const item of one) visit(item, name, at, false)
    else
      for (const key in one) {
        member(key, isInner, at?.keys)
        const next = at && (at.members.get(key) ?? at.any)
        visit((one as JsonObject)[key] as JsonValue, key, next, true)
      }
    depth--
  }
  visit(document, '', isText ? undefined : tree, false)
  return isWhole
}

/** Whether a member stands twice in one object of a JSON text: readers differ in which of them they take. */
export function hasDoubledMember(text: string, document: JsonValue): boolean {
  const members = countMembers(document)
  // Every name counts, and what looks like one within a text: mostly there is none.
  if ((text.match(/"\s*:/g)?.length ?? 0) === members) return false
  // Without escapes every other part stands outside of a string.
  const parts = text.replace(/\\./g, '').split('"')
  return parts.filter((part, at) => at % 2 === 0 && /^\s*:/.test(part)).length !== members
}

function countMembers(value: JsonValue): number {
  let count = 0
  if (Array.isArray(value)) for (const item of value) count += countMembers(item)
  else if (isObject(value))
    for (const name in value) count += 1 + countMembers(value[name] as JsonValue)
  return count
}
