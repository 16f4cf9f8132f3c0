// Reads the payload of a hook. The clients use the same words for most members; what differs is in tables:
// the names of events, tools and arguments. A payload that does not fit is refused: before a tool that is a
// denial, because the client would otherwise run what was not judged.

import { isObject, type JsonObject, type JsonValue } from '@sluice/policy/core/json'
import { CLIENT_TOOLS } from './client-tools.ts'
import type { HookClient, HookEvent, HookedCall } from './hook-event.ts'
import { HOOK_NAME_LENGTH_MAX } from './limits.ts'

export interface RefusedHook {
  /** It came before a tool, so the answer is a denial. */
  readonly isBefore: boolean
  readonly why: string
}

const EVENTS: Readonly<Record<string, HookEvent['kind']>> = {
  PreToolUse: 'before',
  BeforeTool: 'before',
  PostToolUse: 'after',
  PostToolUseFailure: 'after',
  AfterTool: 'after',
  UserPromptSubmit: 'prompt',
  BeforeAgent: 'prompt',
  SessionEnd: 'end',
}

/** Names of other clients for the tools of the catalogue. */
const TOOLS: Readonly<Partial<Record<HookClient, Readonly<Record<string, string>>>>> = {
  gemini: {
    run_shell_command: 'Bash',
    read_file: 'Read',
    write_file: 'Write',
    replace: 'Edit',
    glob: 'Glob',
    grep_search: 'Grep',
    search_file_content: 'Grep',
    web_fetch: 'WebFetch',
    google_web_search: 'WebSearch',
  },
  copilot: {
    bash: 'Bash',
    view: 'Read',
    create: 'Write',
    edit: 'Edit',
    str_replace_editor: 'Edit',
  },
}

/** Names of other clients for the argument that is a path. */
const PATHS: readonly string[] = ['path', 'absolute_path', 'filePath', 'dir_path']

/** Who submits a prompt that a person wrote; some versions of the clients do not say it. */
const TYPED: readonly JsonValue[] = ['user', 'sdk']

export function readHookEvent(client: HookClient, payload: JsonValue): HookEvent | RefusedHook {
  if (!isObject(payload)) return { isBefore: true, why: 'the payload is not an object' }
  const name = payload.hook_event_name
  const kind = typeof name === 'string' && Object.hasOwn(EVENTS, name) ? EVENTS[name] : undefined
  const refuse = (why: string): RefusedHook => ({ isBefore: kind === 'before', why })
  if (kind === undefined)
    return refuse(`\`hook_event_name\` is ${quote(name)}, which is no event that the gate reads`)
  const session = payload.session_id
  if (!isName(session)) return refuse(wrongName('session_id', session))
  if (kind === 'end') return { kind, session }
  if (kind === 'prompt') {
    const { prompt: text, source } = payload
    if (typeof text !== 'string')
      return refuse(`\`prompt\` is ${quote(text)}, and has to be a text`)
    return { kind, session, text, isTyped: source === undefined || TYPED.includes(source) }
  }
  const call = readCall(client, payload)
  if (typeof call === 'string') return refuse(call)
  if (kind === 'before') return { kind, session, call }
  const { tool_response, tool_result, error } = payload
  const output = tool_response ?? tool_result ?? error ?? null
  const isError = name === 'PostToolUseFailure' || (isObject(output) && output.error !== undefined)
  return { kind, session, call, output, isError }
}

function readCall(client: HookClient, payload: JsonObject): HookedCall | string {
  const { tool_name, tool_input, tool_use_id: id, cwd } = payload
  if (!isName(tool_name)) return wrongName('tool_name', tool_name)
  if (!isObject(tool_input))
    return `\`tool_input\` is ${quote(tool_input)}, and has to be an object`
  if (id !== undefined && !isName(id)) return wrongName('tool_use_id', id)
  if (typeof cwd !== 'string') return `\`cwd\` is ${quote(cwd)}, and has to be a text`
  const names = TOOLS[client]
  const tool = names && Object.hasOwn(names, tool_name) ? (names[tool_name] as string) : tool_name
  const mcpServer = findMcpServer(payload, tool_name)
  const args = mcpServer === undefined ? placeArguments(tool, tool_input, cwd) : tool_input
  return { tool, args, id, mcpServer }
}

function findMcpServer(payload: JsonObject, tool: string): string | undefined {
  const { mcp_server, mcp_context } = payload
  if (isObject(mcp_server) && typeof mcp_server.name === 'string') return mcp_server.name
  if (isObject(mcp_context) && typeof mcp_context.server_name === 'string')
    return mcp_context.server_name
  return /^mcp__(.+?)__/.exec(tool)?.[1]
}

/** Rules name one argument for one meaning, and a path is judged where the client stands. */
function placeArguments(tool: string, input: JsonObject, cwd: string): JsonObject {
  if (tool === 'Bash') return { ...input, cwd }
  const key = CLIENT_TOOLS.get(tool)?.path
  if (key === undefined) return input
  const given = [key, ...PATHS].find((name) => typeof input[name] === 'string')
  if (given === undefined)
    return tool === 'Glob' || tool === 'Grep' ? { ...input, [key]: cwd } : input
  const { [given]: path, ...rest } = input
  return { ...rest, [key]: toAbsolute(String(path), cwd) }
}

/** What another rule than that of the system makes absolute (`~`, drive letters) stays as it is. */
function toAbsolute(path: string, cwd: string): string {
  return /^(?:[/~\\]|[A-Za-z]:)/.test(path) ? path : `${cwd.replace(/\/$/, '')}/${path}`
}

function isName(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && value !== '' && value.length <= HOOK_NAME_LENGTH_MAX
}

function wrongName(member: string, value: JsonValue | undefined): string {
  return `\`${member}\` is ${quote(value)}, and has to be a text of 1 to ${HOOK_NAME_LENGTH_MAX} characters`
}

function quote(value: JsonValue | undefined): string {
  return value === undefined ? 'missing' : `\`${JSON.stringify(value).slice(0, 60)}\``
}
