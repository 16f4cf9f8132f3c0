// Steps of an agent as events of hooks: what is to be decided before it happens, what has happened, and what the
// agent read. Forms are those of the standard's schemas and of its adapters, which name a result by the `request_id`
// of its request.

import { isObject, type JsonObject, type JsonValue } from '@sluice/policy/values/json'
import type { HookEvent } from '../hooks/clients/hook-event.ts'
import { ACS_CODE, type AcsFault, type AcsRequest, invalid, isAcsName, quote } from './envelope.ts'

/** A call that the agent is about to make. */
export interface AcsCall {
  readonly tool: string
  readonly args: JsonObject
}

export type AcsStep =
  /** Allowed, and in the chain: nothing is decided by it. */
  | { readonly kind: 'note' }
  | { readonly kind: 'event'; readonly event: Extract<HookEvent, { kind: 'prompt' | 'end' }> }
  /** `id` is the agent's name of the call: its own, or that of the request. */
  | { readonly kind: 'call'; readonly call: AcsCall; readonly id: string }
  /** A call whose result is known, or will never be told. */
  | {
      readonly kind: 'whole'
      readonly call: AcsCall
      readonly id: string
      readonly output: JsonValue
    }
  /** `ids`: by which of them the request named its call is not known. */
  | {
      readonly kind: 'result'
      readonly ids: readonly string[]
      readonly tool: string
      readonly output: JsonValue
      readonly isError: boolean
    }

const NOTE: AcsStep = { kind: 'note' }

/** What the gate answers; also for the handshake. `protocols/*` is not among them: MCP servers belong behind the gate. */
const READERS: Readonly<Record<string, (request: AcsRequest) => AcsStep | AcsFault>> = {
  'steps/sessionStart': () => NOTE,
  'steps/sessionEnd': ({ session }) => ({ kind: 'event', event: { kind: 'end', session } }),
  'steps/userMessage': ({ session, payload }) => prompt(session, joinContent(payload), true),
  'steps/agentTrigger': ({ session, payload }) =>
    payload.trigger_type === 'user_message'
      ? NOTE
      : prompt(session, JSON.stringify(payload.trigger_source ?? payload), false),
  'steps/toolCallRequest': readCall,
  'steps/toolCallResult': readResult,
  'steps/knowledgeRetrieval': (request) => readRetrieval(request, 'retrieve'),
  'steps/memoryContextRetrieval': (request) => readRetrieval(request, 'recall'),
  'steps/memoryStore': (request) => readWhole(request, 'remember'),
  'steps/subagentStart': (request) => readWhole(request, 'Agent'),
  'steps/skillLoad': (request) => readWhole(request, 'Skill'),
  'steps/turnStart': () => NOTE,
  'steps/turnEnd': () => NOTE,
  'steps/agentResponse': () => NOTE,
  'steps/preCompact': () => NOTE,
  'steps/postCompact': () => NOTE,
  'steps/subagentStop': () => NOTE,
  'steps/skillRegister': () => NOTE,
  'steps/skillUnload': () => NOTE,
  'agbom/snapshot': () => NOTE,
  'agbom/changed': () => NOTE,
}

export const ACS_METHODS: readonly string[] = Object.keys(READERS)

export function readStep(request: AcsRequest): AcsStep | AcsFault {
  const read = Object.hasOwn(READERS, request.method) ? READERS[request.method] : undefined
  if (read !== undefined) return read(request)
  const message = `\`${request.method.slice(0, 100)}\` is no method that this gate evaluates`
  const help = request.method.startsWith('protocols/')
    ? ': put the MCP server behind the gate, or send its calls as `steps/toolCallRequest`'
    : ''
  return { code: ACS_CODE.unknownMethod, message: `Method not found: ${message}${help}` }
}

function prompt(session: string, text: string, isTyped: boolean): AcsStep {
  return { kind: 'event', event: { kind: 'prompt', session, text, isTyped } }
}

function readCall(request: AcsRequest): AcsStep | AcsFault {
  const { tool, arguments: args = {}, execution_id: id = request.requestId } = request.payload
  const name = isObject(tool) ? tool.name : undefined
  if (!isAcsName(name)) return invalid(`\`payload.tool.name\` is ${quote(name)}, and no name`)
  if (!isObject(args)) return invalid(`\`payload.arguments\` is ${quote(args)}, and no object`)
  if (!isAcsName(id)) return invalid(`\`payload.execution_id\` is ${quote(id)}, and no name`)
  const plain: [string, JsonValue][] = []
  for (const [key, value] of Object.entries(args)) {
    // An argument beside its value and its origin would be decided on in one form and used in another.
    if (!isObject(value) || value.value === undefined)
      return invalid(`\`payload.arguments.${key.slice(0, 60)}\` has no \`value\``)
    plain.push([key, value.value])
  }
  return { kind: 'call', id, call: { tool: name, args: Object.fromEntries(plain) } }
}

function readResult({ payload }: AcsRequest): AcsStep | AcsFault {
  const { request_id_ref: ref, execution_id: id, tool, outputs = [], exit_status } = payload
  const ids = [ref, id].filter(isAcsName)
  if (ids.length === 0)
    return invalid('`payload` names no call: send `request_id_ref` or `execution_id`')
  if (!Array.isArray(outputs)) return invalid(`\`payload.outputs\` is ${quote(outputs)}, no list`)
  const values = outputs.map((one) => (isObject(one) && one.value !== undefined ? one.value : one))
  const name = isObject(tool) && isAcsName(tool.name) ? tool.name : 'unknown'
  return {
    kind: 'result',
    ids,
    tool: name,
    output: values.length === 1 ? (values[0] as JsonValue) : values,
    isError: exit_status !== undefined && exit_status !== 'success',
  }
}

/** The query is what the agent asked by; everything else came back. */
function readRetrieval({ payload, requestId: id }: AcsRequest, tool: string): AcsStep {
  const { query, keywords, ...output } = payload
  const args = {
    ...(query === undefined ? {} : { query }),
    ...(keywords === undefined ? {} : { keywords }),
  }
  return { kind: 'whole', id, call: { tool, args }, output }
}

function readWhole({ payload: args, requestId: id }: AcsRequest, tool: string): AcsStep {
  return { kind: 'whole', id, call: { tool, args }, output: '' }
}

/** The texts of a message; a part that is none, as JSON. */
function joinContent({ content, message }: JsonObject): string {
  const parts = Array.isArray(content) ? content : [content ?? message ?? '']
  return parts
    .map((part) => {
      const value = isObject(part) ? (part.value ?? part.text ?? part) : part
      return typeof value === 'string' ? value : JSON.stringify(value)
    })
    .join('\n')
}
