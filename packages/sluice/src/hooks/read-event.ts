// Reads the payload of a hook. The clients use the same words for most members; what differs is in
// clients.json: the names of events and tools. A payload that does not fit is refused: before a tool that is
// a denial, because the client would otherwise run what was not judged.

import { getOwn, isObject, type JsonObject, type JsonValue } from '@sluice/policy/core/json'
import { CLIENT_TOOLS } from './client-tools.ts'
import { CLIENT_NAMES, type HookClient, type HookEvent } from './hook-event.ts'
import { HOOK_NAME_LENGTH_MAX } from './limits.ts'

export interface RefusedHook {
  /** It came before a tool, so the answer is a denial. */
  readonly isBefore: boolean
  readonly why: string
}

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
  cwd: ['a text', isText],
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

/** Names of other clients for the argument that is a path. */
const PATHS: readonly string[] = ['path', 'absolute_path', 'filePath', 'dir_path']
/** Who submits a prompt that a person wrote; some versions of the clients do not say it. */
const TYPED: readonly unknown[] = [undefined, 'user', 'sdk']

export function readHookEvent(client: HookClient, payload: JsonValue): HookEvent | RefusedHook {
  if (!isObject(payload)) return { isBefore: true, why: 'the payload is not an object' }
  const { hook_event_name: name } = payload
  const [event = ''] =
    Object.entries(CLIENT_NAMES[client].events).find(([, one]) => one === name) ?? []
  const members = MEMBERS[event]
  const refuse = (why: string): RefusedHook => ({ isBefore: event === 'before', why })
  if (members === undefined)
    return refuse(`\`hook_event_name\` is ${quote(name)}, which is no event that the gate reads`)
  const wrong = members.find((member) => !FORMS[member][1](payload[member]))
  if (wrong !== undefined)
    return refuse(`\`${wrong}\` is ${quote(payload[wrong])}, and has to be ${FORMS[wrong][0]}`)
  const { session_id: session, prompt: text, ...of } = payload as unknown as Payload
  if (event === 'end') return { kind: 'end', session }
  if (event === 'prompt')
    return { kind: 'prompt', session, text, isTyped: TYPED.includes(payload.source) }
  const tool = getOwn(CLIENT_NAMES[client].tools, of.tool_name) ?? of.tool_name
  const mcpServer = findMcpServer(payload, of.tool_name)
  const args = mcpServer === undefined ? placeArguments(tool, of.tool_input, of.cwd) : of.tool_input
  const call = { tool, args, id: of.tool_use_id, mcpServer }
  if (event === 'before') return { kind: 'before', session, call }
  const output = payload.tool_response ?? payload.tool_result ?? payload.error ?? null
  const isError = event === 'failed' || (isObject(output) && output.error !== undefined)
  return { kind: 'after', session, call, output, isError }
}

function findMcpServer({ mcp_server, mcp_context }: JsonObject, tool: string): string | undefined {
  const name = isObject(mcp_server) ? mcp_server.name : undefined
  const inContext = isObject(mcp_context) ? mcp_context.server_name : undefined
  const named = [name, inContext].find(isName) as string | undefined
  return named ?? /^mcp__(.+?)__/.exec(tool)?.[1]
}

/** Rules name one argument for one meaning, and a path is judged where the client stands. What a model says
 * about a command line and how long it would wait for it differ each time, and an approval is of the line. */
function placeArguments(tool: string, input: JsonObject, cwd: string): JsonObject {
  if (tool === 'Bash') {
    const { description: _said, timeout: _patience, ...line } = input
    return { ...line, cwd }
  }
  const key = CLIENT_TOOLS.get(tool)?.path
  if (key === undefined) return input
  const given = [key, ...PATHS].find((name) => typeof input[name] === 'string')
  // What finds files looks where the client stands.
  if (given === undefined) return key === 'path' ? { ...input, path: cwd } : input
  const { [given]: path, ...rest } = input
  return { ...rest, [key]: toAbsolute(String(path), cwd) }
}

/** What another rule than that of the system makes absolute (`~`, drive letters) stays as it is. */
function toAbsolute(path: string, cwd: string): string {
  return /^(?:[/~\\]|[A-Za-z]:)/.test(path) ? path : `${cwd.replace(/\/$/, '')}/${path}`
}

function quote(value: JsonValue | undefined): string {
  return value === undefined ? 'missing' : `\`${JSON.stringify(value).slice(0, 60)}\``
}
