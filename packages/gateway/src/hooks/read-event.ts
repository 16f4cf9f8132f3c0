// Checks the payload of a hook, once the file of its client (clients/) has said which member is what. A payload
// that does not fit is refused: before a tool that is a denial, because the client would otherwise run what was
// not judged.

import { isObject, type JsonValue } from '@sluice/policy/values/json'
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

/** What a member of a payload has to be. */
interface MemberForm<Value> {
  /** In words, for the message of a payload that does not fit. */
  readonly form: string
  readonly fits: (value: unknown) => value is Value
}

/** The forms of the members that one event has. */
type MemberForms = { readonly [Name in CheckedName]?: MemberForm<unknown> }

type CheckedName = keyof Omit<ClientPayload, 'mcpServers'>

/** The members, each with the type of its form. */
type CheckedMembers<Forms> = {
  readonly [Name in keyof Forms]: Forms[Name] extends MemberForm<infer Value> ? Value : never
}

const isName = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= HOOK_NAME_LENGTH_MAX
const isText = (value: unknown): value is string => typeof value === 'string'

const NAME = { form: `a text of 1 to ${HOOK_NAME_LENGTH_MAX} characters`, fits: isName } as const
const TEXT = { form: 'a text', fits: isText } as const
const OBJECT = { form: 'an object', fits: isObject } as const
const ABSOLUTE_PATH = {
  form: 'an absolute path',
  fits: (value: unknown): value is string => isText(value) && isAbsolute(value),
} as const

function optional<Value>({ form, fits }: MemberForm<Value>): MemberForm<Value | undefined> {
  return {
    form,
    fits: (value): value is Value | undefined => value === undefined || fits(value),
  }
}

const SESSION = { session_id: NAME } as const
const PROMPT = { ...SESSION, prompt: TEXT, permission_mode: optional(NAME) } as const
const CALL = {
  ...SESSION,
  tool_name: NAME,
  tool_input: OBJECT,
  tool_use_id: optional(NAME),
  cwd: ABSOLUTE_PATH,
  scratch: optional(TEXT),
  permission_mode: optional(NAME),
} as const
const CALL_EVENTS = ['before', 'asked', 'after', 'failed'] as const

function hasForms<Forms extends MemberForms>(
  payload: ClientPayload,
  forms: Forms,
): payload is ClientPayload & CheckedMembers<Forms> {
  return findMisfit(payload, forms) === undefined
}

/** Why a payload does not fit. */
function findMisfit(payload: ClientPayload, forms: MemberForms): string | undefined {
  for (const name of Object.keys(forms) as CheckedName[]) {
    const { form, fits } = forms[name] ?? {}
    if (fits?.(payload[name]) === false)
      return `\`${name}\` is ${quote(payload[name])}, and has to be ${form}`
  }
  return undefined
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
  const callEvent = CALL_EVENTS.find((one) => one === event)
  const refuse = (forms: MemberForms): RefusedHook =>
    misread(String(findMisfit(read, forms)), event === 'before')
  if (event === 'end')
    return hasForms(read, SESSION) ? { kind: 'end', session: read.session_id } : refuse(SESSION)
  if (event === 'prompt') {
    if (!hasForms(read, PROMPT)) return refuse(PROMPT)
    const { session_id: session, permission_mode: mode, prompt: text, isTyped } = read
    return { kind: 'prompt', session, mode, text, isTyped }
  }
  // `start` is none of them: it asks nothing.
  if (callEvent === undefined)
    return misread(
      `\`hook_event_name\` is ${quote(name)}, which is no event that the gate reads`,
      false,
    )
  if (!hasForms(read, CALL)) return refuse(CALL)
  const { session_id: session, permission_mode: mode, tool_input: input, tool_name } = read
  const tool = nameTool(tool_name, input)
  const mcpServer = findMcpServer(read, tool_name, isGated)
  const placed =
    mcpServer === undefined ? placeArguments({ client, tool, input, cwd: read.cwd }) : input
  if (typeof placed === 'string' && callEvent === 'before') return { isBefore: true, why: placed }
  // What a tool has said is inspected, whatever it was called with.
  const args = typeof placed === 'string' ? input : placed
  const call = { tool, args, input, id: read.tool_use_id, scratch: read.scratch, mcpServer }
  if (callEvent === 'before') return { kind: 'before', session, mode, call }
  if (callEvent === 'asked')
    return { kind: 'asked', session, mode, call, offers: readOffers(read.permission_suggestions) }
  const isError = callEvent === 'failed' || (isObject(output) && output.error !== undefined)
  return { kind: 'after', event: callEvent, session, mode, call, output, isError }
}

/** Who has an MCP tool. If only the tool's name tells, `mcp__a__b__c` is a tool of `a` or of `a__b`: it is one of a
 * server behind the gate only if both are, or a server beside the gate would pass by its name. */
function findMcpServer(
  { mcpServers }: ClientPayload,
  tool: string,
  isGated: IsGated,
): string | undefined {
  const named = mcpServers.find(isName)
  if (named !== undefined || !tool.startsWith('mcp__')) return named
  const parts = tool.slice('mcp__'.length).split('__')
  const possible = parts.slice(1).map((_, at) => parts.slice(0, at + 1).join('__'))
  return possible.find((server) => !isGated(server)) ?? possible.at(-1)
}

function quote(value: JsonValue | undefined): string {
  return value === undefined ? 'missing' : `\`${JSON.stringify(value).slice(0, 60)}\``
}
