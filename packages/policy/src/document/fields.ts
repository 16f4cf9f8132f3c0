// Typed access to the fields of a located mapping that has been validated against its shape.

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
