// Fields of a located mapping whose shape is known to fit: the short way to their values, for
// whoever turns a document into what a room holds.

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
