// What a server says of itself when it is listed (`instructions`), beside its definitions: a gate pins both as one.

import type { ToolDefinition } from '@sluice/policy/calls/tools'

const ofTool = new WeakMap<ToolDefinition, string>()

export function noteInstructions(tools: readonly ToolDefinition[], instructions: string): void {
  for (const tool of tools) ofTool.set(tool, instructions)
}

/** Undefined if the server says nothing, or the definition was read from a file that does not have it. */
export function getInstructions(tool: ToolDefinition): string | undefined {
  return ofTool.get(tool)
}

/** By server, for a file of definitions. */
export function listInstructions(tools: readonly ToolDefinition[]): {
  readonly instructions?: Readonly<Record<string, string>>
} {
  const found = tools.flatMap((tool) => {
    const text = getInstructions(tool)
    return text === undefined ? [] : [[tool.server, text] as const]
  })
  return found.length === 0 ? {} : { instructions: Object.fromEntries(found) }
}
