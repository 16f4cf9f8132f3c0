// How a client of all servers sees their tools: every definition, or a few tools to find and call the others by. A
// client names its mode in the address or in the first line of a pipe.

import { OperationError } from '@sluice/policy/structures/operation-error'
import { isObject } from '@sluice/policy/values/json'
import { splitMembers } from '@sluice/protocol/json/raw-members'
import { withMembers } from '@sluice/protocol/members'
import type { JsonRpcRequest } from '@sluice/protocol/message'
import { ALL_SERVERS } from './transport.ts'
import { viewOf } from './view.ts'

export const TOOL_MODES = ['all', 'search', 'code'] as const
export type ToolMode = (typeof TOOL_MODES)[number]

export interface ModeSettings {
  /** Of clients that name none. */
  readonly toolMode: ToolMode
  /** The server that runs the programs of the mode `code`. */
  readonly codeServer: () => string | undefined
}

/** Throws if a client cannot have the mode that it names. */
export function readToolMode(
  server: string,
  text: unknown,
  { toolMode, codeServer }: ModeSettings,
): ToolMode {
  const isAll = server === ALL_SERVERS || viewOf(server) !== undefined
  if (!isAll && text !== undefined)
    throw new OperationError(
      `the server \`${server}\` alone has no tool modes`,
      'use /mcp?mode=search, or `sluice stdio --mode search` without --server',
    )
  const mode = TOOL_MODES.find((each) => each === (text ?? toolMode))
  if (mode === undefined)
    throw new OperationError(
      `\`${String(text).slice(0, 100)}\` is not a tool mode`,
      `modes are ${TOOL_MODES.join(', ')}`,
    )
  if (isAll && mode === 'code' && codeServer() === undefined)
    throw new OperationError(
      'the tool mode `code` needs the built-in server that runs programs',
      'add `code: { builtin: code }` to `servers` in sluice.yaml',
    )
  return mode
}

export const CALL_TOOL = 'call_tool'
export const RUN_CODE = 'run_code'

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
