// How a client of all servers sees their tools: every definition, or a few tools to find and call the others by. A
// client names its mode in the address or in the first line of a pipe.

import { isObject } from '@sluice/policy/core/json'
import { OperationError } from '../../core/operation-error.ts'
import { splitMembers } from '../../protocol/json/raw-members.ts'
import { withMembers } from '../../protocol/members.ts'
import type { JsonRpcRequest } from '../../protocol/message.ts'
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

export const CALL_TOOL = 'call_tool'

/** The call that a call of `call_tool` stands for, with the exact text of its arguments; `_meta` and `task` are those of
 * the outer call. A text says what is wrong with it. */
export function readInnerCall(request: JsonRpcRequest): JsonRpcRequest | string {
  const { arguments: given } = request.params?.value ?? {}
  const { name, arguments: inner } = isObject(given) ? given : {}
  if (typeof name !== 'string') return '`name` is missing: search_tools finds names'
  if (inner !== undefined && !isObject(inner)) return '`arguments` must be an object, not its text'
  const texts = splitMembers(request.params?.text.get('arguments') ?? '{}')
  const members = { name: JSON.stringify(name), arguments: texts.get('arguments') }
  return { ...request, params: withMembers(request.params, members) }
}
