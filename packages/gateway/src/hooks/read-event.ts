// Checks the payload of a hook, once the file of its client (clients/) has said which member is what. A payload
// that does not fit is refused: before a tool that is a denial, because the client would otherwise run what was
// not judged.

import { isObject, type JsonObject, type JsonValue } from '@sluice/policy/values/json'
import type { ClientPayload } from './clients/coding-client.ts'
import type { HookEvent } from './clients/hook-event.ts'
import { CODING_CLIENTS, type HookClient } from './clients/table.ts'
import { HOOK_NAME_LENGTH_MAX } from './limits.ts'
import { readOffers } from './may-answer.ts'
import { isAbsolute, placeArguments } from './place-arguments.ts'

export interface RefusedHook {
  /** It came before a tool, so the answer is a denial. */
  readonly isBefore: boolean
  /** For the model, as the reason of a denial. */
  readonly why: string
}

/** Whether tools that a client shows behind this name are those of a server or a view of the gate. */
export type IsGated = (server: string) => boolean

/** The members that are checked, as they are then. */
interface Payload {
  readonly session_id: string
  readonly prompt: string
  readonly tool_name: string
  readonly tool_input: JsonObject
  readonly tool_use_id: string | undefined
  readonly cwd: string
  readonly scratch: string | undefined
  readonly permission_mode: string | undefined
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
  permission_mode: [NAME, (value) => value === undefined || isName(value)],
  cwd: ['an absolute path', (value) => typeof value === 'string' && isAbsolute(value)],
  scratch: ['a text', (value) => value === undefined || isText(value)],
}
const OF_CALL = [
  'session_id',
  'tool_name',
  'tool_input',
  'tool_use_id',
  'cwd',
  'scratch',
  'permission_mode',
] as const
/** `start` is not among them: it asks nothing. */
const MEMBERS: Readonly<Record<string, readonly (keyof Payload)[]>> = {
  prompt: ['session_id', 'prompt', 'permission_mode'],
  before: OF_CALL,
  asked: OF_CALL,
  after: OF_CALL,
  failed: OF_CALL,
  end: ['session_id'],
}

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
  const { events, nameTool, readPayload } = CODING_CLIENTS[client]
  const read = readPayload(payload)
  const { hook_event_name: name, output } = read
  const [event = ''] = Object.entries(events).find(([, one]) => one === name) ?? []
  const members = MEMBERS[event]
  const isBefore = event === 'before'
  if (members === undefined) {
    const what = `\`hook_event_name\` is ${quote(name)}, which is no event that the gate reads`
    return misread(what, isBefore)
  }
  const wrong = members.find((member) => !FORMS[member][1](read[member]))
  if (wrong !== undefined)
    return misread(
      `\`${wrong}\` is ${quote(read[wrong])}, and has to be ${FORMS[wrong][0]}`,
      isBefore,
    )
  // Of the members that this event has, each is of its form.
  const {
    session_id: session,
    prompt: text,
    permission_mode: mode,
    ...of
  } = read as unknown as Payload
  if (event === 'end') return { kind: 'end', session }
  if (event === 'prompt') return { kind: 'prompt', session, mode, text, isTyped: read.isTyped }
  const tool = nameTool(of.tool_name, of.tool_input)
  const mcpServer = findMcpServer(read, of.tool_name, isGated)
  const placed =
    mcpServer === undefined
      ? placeArguments({ client, tool, input: of.tool_input, cwd: of.cwd })
      : of.tool_input
  if (typeof placed === 'string' && isBefore) return { isBefore, why: placed }
  // What a tool has said is inspected, whatever it was called with.
  const args = typeof placed === 'string' ? of.tool_input : placed
  const call = {
    tool,
    args,
    input: of.tool_input,
    id: of.tool_use_id,
    scratch: of.scratch,
    mcpServer,
  }
  if (event === 'before') return { kind: event, session, mode, call }
  if (event === 'asked')
    return { kind: event, session, mode, call, offers: readOffers(read.permission_suggestions) }
  const isError = event === 'failed' || (isObject(output) && output.error !== undefined)
  const ended = event === 'failed' ? 'failed' : 'after'
  return { kind: 'after', event: ended, session, mode, call, output, isError }
}

/** Who has an MCP tool. If only the tool's name tells, `mcp__a__b__c` is a tool of `a` or of `a__b`: it is one of a
 * server behind the gate only if both are, or a server beside the gate would pass by its name. */
function findMcpServer(
  { mcpServers }: ClientPayload,
  tool: string,
  isGated: IsGated,
): string | undefined {
  const named = mcpServers.find(isName) as string | undefined
  if (named !== undefined || !tool.startsWith('mcp__')) return named
  const parts = tool.slice('mcp__'.length).split('__')
  const possible = parts.slice(1).map((_, at) => parts.slice(0, at + 1).join('__'))
  return possible.find((server) => !isGated(server)) ?? possible.at(-1)
}

function quote(value: JsonValue | undefined): string {
  return value === undefined ? 'missing' : `\`${JSON.stringify(value).slice(0, 60)}\``
}
