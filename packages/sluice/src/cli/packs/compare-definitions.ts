// How the tools of a server differ from those that a pack was tested with: new ones, missing ones, and ones
// whose definition is another. Pure.

import type { ToolDefinition } from '@sluice/policy/core/tools'
import { type Digest, pinOf } from '../../catalogue/pins/pin.ts'
import type { PackDefinitions } from './load-pack.ts'

export interface PackDifferences {
  readonly added: readonly string[]
  readonly missing: readonly string[]
  readonly changed: readonly string[]
}

export function compareDefinitions(
  { tools: tested }: PackDefinitions,
  definitions: readonly ToolDefinition[],
  digest: Digest,
): PackDifferences {
  const known = new Map(definitions.map((definition) => [definition.name, definition]))
  const isChanged = (name: string) => {
    const definition = known.get(name)
    return definition !== undefined && pinOf(definition, digest) !== tested[name]
  }
  return {
    added: [...known.keys()].filter((name) => !Object.hasOwn(tested, name)).sort(),
    missing: Object.keys(tested).filter((name) => !known.has(name)),
    changed: Object.keys(tested).filter(isChanged),
  }
}

export function isSameServer({ added, missing, changed }: PackDifferences): boolean {
  return added.length + missing.length + changed.length === 0
}
