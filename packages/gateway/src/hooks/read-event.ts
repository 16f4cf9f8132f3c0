// Reads the payload of a hook. The clients use the same words for most members; what differs is in
// clients.json: the names of events and tools. A payload that does not fit is refused: before a tool that is
// a denial, because the client would otherwise run what was not judged.

import { getOwn, isObject, type JsonObject, type JsonValue } from '@sluice/policy/core/json'
import { CLIENT_NAMES, type HookClient, type HookEvent } from './hook-event.ts'
import { HOOK_NAME_LENGTH_MAX } from './limits.ts'
import { isAbsolute, placeArguments } from './place-arguments.ts'

export interface RefusedHook {
  /** It came before a tool, so the answer is a denial. */
  readonly isBefore: boolean
  /** For the model, as the reason of a denial. */
  readonly why: string
}

/** Whether the gate has an MCP server of this name. */
export type IsGated = (server: string) => boolean

/** The members that are checked. */
interface Payload {
  readonly session_id: string
  readonly prompt: string
  readonly tool_name: string
  readonly tool_input: JsonObject
  readonly tool_use_id: string | undefined
  readonly cwd: string
}

const isText = (value: unknown): boolean => typeof value === 'string'
const isName = (value: unknown): boolean =>
  typeof value === 'string' && value !== '' && value.length <= HOOK_NAME_LENGTH_MAX
const NAME = `a text of 1 to ${HOOK_NAME_LENGTH_MAX} characters`

/** What each member has to be. */
const FORMS: Readonly<Record<keyof Payload, readonly [string, (value: unknown) => boolean]>> = {
  session_id: [NAME, isName],
  prompt: ['a text', isText],
  tool_name: [NAME, isName],
  tool_input: ['an object', isObject],
  tool_use_id: [NAME, (value) => value === undefined || isName(value)],
  cwd: ['an absolute path', (value) => typeof value === 'string' && isAbsolute(value)],
}
const OF_CALL = ['session_id', 'tool_name', 'tool_input', 'tool_use_id', 'cwd'] as const
/** `start` is not among them: it asks nothing. */
const MEMBERS: Readonly<Record<string, readonly (keyof Payload)[]>> = {
  prompt: ['session_id', 'prompt'],
  before: OF_CALL,
  after: OF_CALL,
  failed: OF_CALL,
  end: ['session_id'],
}

/** Who submits a prompt that a person wrote; some versions of the clients do not say it. */
const TYPED: readonly unknown[] = [undefined, 'user', 'sdk']

export function readHookEvent(
  client: HookClient,
  payload: JsonValue,
  isGated: IsGated = () => false,
): HookEvent | RefusedHook {
  const misread = (why: string, isBefore: boolean): RefusedHook => ({
    isBefore,
    why: `the hook is not understood: ${why}; is this a new version of ${client}?`,
  })
  if (!isObject(payload)) return misread('the payload is not an object', true)
  const { hook_event_name: name } = payload
  const [event = ''] =
    Object.entries(CLIENT_NAMES[client].events).find(([, one]) => one === name) ?? []
  const members = MEMBERS[event]
  const isBefore = event === 'before'
  if (members === undefined) {
    const what = `\`hook_event_name\` is ${quote(name)}, which is no event that the gate reads`
    return misread(what, isBefore)
  }
  const wrong = members.find((member) => !FORMS[member][1](payload[member]))
  if (wrong !== undefined)
    return misread(
      `\`${wrong}\` is ${quote(payload[wrong])}, and has to be ${FORMS[wrong][0]}`,
      isBefore,
    )
  const { session_id: session, prompt: text, ...of } = payload as unknown as Payload
  if (event === 'end') return { kind: 'end', session }
  if (event === 'prompt')
    return { kind: 'prompt', session, text, isTyped: TYPED.includes(payload.source) }
  const tool = nameTool(client, of)
  const mcpServer = findMcpServer(payload, of.tool_name, isGated)
  const placed =
    mcpServer === undefined
      ? placeArguments({ client, tool, input: of.tool_input, cwd: of.cwd })
      : of.tool_input
  if (typeof placed === 'string' && isBefore) return { isBefore, why: placed }
  // What a tool has said is inspected, whatever it was called with.
  const args = typeof placed === 'string' ? of.tool_input : placed
  const call = { tool, args, id: of.tool_use_id, mcpServer }
  if (isBefore) return { kind: 'before', session, call }
  const output = payload.tool_response ?? payload.tool_result ?? payload.error ?? null
  const isError = event === 'failed' || (isObject(output) && output.error !== undefined)
  return { kind: 'after', session, call, output, isError }
}

/** As the catalogue names it. What watches a command is a shell; what listens to a socket has no line. */
function nameTool(
  client: HookClient,
  { tool_name: name, tool_input: input }: Pick<Payload, 'tool_name' | 'tool_input'>,
): string {
  if (name === 'Monitor' && (typeof input.command !== 'string' || input.ws !== undefined))
    return name
  return getOwn(CLIENT_NAMES[client].tools, name) ?? name
}

/** Who has an MCP tool. If only the tool's name tells, `mcp__a__b__c` is a tool of `a` or of `a__b`: it is one of a
 * server behind the gate only if both are, or a server beside the gate would pass by its name. */
function findMcpServer(
  { mcp_server, mcp_context }: JsonObject,
  tool: string,
  isGated: IsGated,
): string | undefined {
  const name = isObject(mcp_server) ? mcp_server.name : undefined
  const inContext = isObject(mcp_context) ? mcp_context.server_name : undefined
  const named = [name, inContext].find(isName) as string | undefined
  if (named !== undefined || !tool.startsWith('mcp__')) return named
  const parts = tool.slice('mcp__'.length).split('__')
  const possible = parts.slice(1).map((_, at) => parts.slice(0, at + 1).join('__'))
  return possible.find((server) => !isGated(server)) ?? possible.at(-1)
}

function quote(value: JsonValue | undefined): string {
  return value === undefined ? 'missing' : `\`${JSON.stringify(value).slice(0, 60)}\``
}
