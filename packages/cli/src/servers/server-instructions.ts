// What a server says of itself when it is listed (`instructions`), beside its definitions: a gate pins both as one.

import type { ToolDefinition } from '@sluice/policy/calls/tools'

const ofTool = new WeakMap<ToolDefinition, string>()

export function noteInstructions(tools: readonly ToolDefinition[], instructions: string): void {
  for (const tool of tools) ofTool.set(tool, instructions)
}

/** Undefined if the definition was not listed by a server, but read from a file. */
export function getInstructions(tool: ToolDefinition): string | undefined {
  return ofTool.get(tool)
}
