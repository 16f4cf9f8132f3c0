// Typed access to the fields of a located mapping that has been validated against its shape.

import type { JsonValue } from '../values/json.ts'
import { asMap } from './check-shape.ts'
import {
  findEntry,
  type LocatedMap,
  type LocatedNode,
  type LocatedScalar,
} from './read-document.ts'

export function scalar(map: LocatedMap, name: string): LocatedScalar['value'] | undefined {
  const node = findEntry(map, name)
  return node?.kind === 'scalar' ? node.value : undefined
}

export function strings(node: LocatedNode | undefined): string[] {
  return items(node).map(({ value }) => String(value))
}

export function items(node: LocatedNode | undefined): readonly LocatedScalar[] {
  return node?.kind === 'list' ? (node.items as readonly LocatedScalar[]) : []
}

/** The entries of a section that has names of servers and tools as its keys. */
export function readSection<Value>(
  document: LocatedMap,
  section: string,
  read: (value: LocatedNode, key: LocatedScalar) => Value,
): [name: string, value: Value][] {
  const { entries } = asMap(findEntry(document, section))
  return entries.map(({ key, value }) => [String(key.value), read(value, key)])
}

/** The plain value of a tree; of one that fits a shape, its `ShapeValue`. */
export function toJson(
  node: LocatedNode,
  toValue = ({ value }: LocatedScalar): JsonValue => value,
): JsonValue {
  if (node.kind === 'scalar') return toValue(node)
  if (node.kind === 'list') return node.items.map((item) => toJson(item, toValue))
  return Object.fromEntries(
    node.entries.map(({ key, value }) => [String(key.value), toJson(value, toValue)]),
  )
}
