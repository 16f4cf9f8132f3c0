// The definitions of servers that are part of Sluice, by identity: their own hints are their class.
// A definition cannot say this of itself, so no other server can claim it.

import type { ToolDefinition } from '@sluice/policy/calls/tools'

const OWN = new WeakSet<ToolDefinition>()

export function markOwnTool(definition: ToolDefinition): void {
  OWN.add(definition)
}

export function isOwnTool(definition: ToolDefinition): boolean {
  return OWN.has(definition)
}
