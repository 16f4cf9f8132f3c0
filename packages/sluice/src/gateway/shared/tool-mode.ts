// How a client of all servers sees their tools: every definition, or a few tools to find and call the others by. A
// client names its mode in the address or in the first line of a pipe.

import { OperationError } from '../../core/operation-error.ts'
import { ALL_SERVERS } from './transport.ts'

export const TOOL_MODES = ['all', 'search'] as const
export type ToolMode = (typeof TOOL_MODES)[number]

/** Throws if there is no such mode. Undefined if the client names none. */
export function readToolMode(server: string, text: unknown): ToolMode | undefined {
  if (text === undefined) return undefined
  if (server !== ALL_SERVERS)
    throw new OperationError(
      `the server \`${server}\` alone has no tool modes`,
      'use /mcp?mode=search, or `sluice stdio --mode search` without --server',
    )
  const mode = TOOL_MODES.find((each) => each === text)
  if (mode !== undefined) return mode
  throw new OperationError(
    `\`${String(text).slice(0, 100)}\` is not a tool mode`,
    `modes are ${TOOL_MODES.join(', ')}`,
  )
}
