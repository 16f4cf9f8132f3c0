// A request as the policy judges it: which methods pass in which direction, what a call is named and
// what its arguments are. What two peers could read differently in the arguments is an objection.

import { classifyCall } from '@sluice/catalogue/classify/classify-call'
import { SERVER_REQUESTS } from '@sluice/ledger/records/call-title'
import type { Call, Facts } from '@sluice/policy/calls/call'
import type { KnownTool } from '@sluice/policy/calls/tools'
import { SCHEMA_DEPTH_MAX } from '@sluice/policy/language/limits'
import { CONTENT_METHODS, PLUMBING, TOOL_CALL } from '@sluice/policy/language/methods'
import { InputError } from '@sluice/policy/structures/operation-error'
import { toWordSet } from '@sluice/policy/structures/word-set'
import { getOwn, isObject, type JsonObject, type JsonValue } from '@sluice/policy/values/json'
import { findCaseVariant, findUnsafeKeys } from '@sluice/protocol/check-arguments'
import type { JsonRpcRequest } from '@sluice/protocol/message'
import { readMessages } from '@sluice/protocol/read-message'
import { argumentsHoldNumber, argumentsHoldSecret } from './inspect-arguments.ts'

/** They follow a call that was judged. */
const OF_TASKS = toWordSet('tasks/get tasks/result tasks/cancel tasks/update tasks/list')

/** Methods that are decided and recorded as the read of the resource they name: a skill is a resource. */
const AS_READS: ReadonlySet<string> = new Set(['skills/get', 'resources/directory/read'])
const READ = 'resources/read'

/** `task`: as plumbing, but only for a task of one's own. */
export type MethodHandling = 'plumbing' | 'judged' | 'task' | 'unknown'

export function classifyClientMethod(method: string): MethodHandling {
  if (method.startsWith('notifications/') || SERVER_REQUESTS.has(method)) return 'unknown'
  if (PLUMBING.has(method) || method === 'skills/list') return 'plumbing'
  if (OF_TASKS.has(method)) return 'task'
  const isJudged = method === TOOL_CALL || CONTENT_METHODS.has(method) || AS_READS.has(method)
  return isJudged ? 'judged' : 'unknown'
}

export function classifyServerMethod(method: string): MethodHandling {
  if (method === 'ping') return 'plumbing'
  return SERVER_REQUESTS.has(method) ? 'judged' : 'unknown'
}

/** Notifications have no content of their own; unknown ones do not pass. */
export function notificationPassage(method: string): MethodHandling {
  if (method === 'notifications/tasks/status') return 'task'
  if (method === 'notifications/elicitation/complete') return 'plumbing'
  if (method === 'notifications/subscriptions/acknowledged') return 'plumbing'
  return PLUMBING.has(method) ? 'plumbing' : 'unknown'
}

export function isAboutResource(method: string): boolean {
  return method.startsWith('resources/') || AS_READS.has(method)
}

export function parseCall(
  server: string,
  { method, params }: Pick<JsonRpcRequest, 'method' | 'params'>,
): Call {
  const value = params?.value ?? {}
  const target = isAboutResource(method) ? value.uri : value.name
  const name = typeof target === 'string' ? target : ''
  const args = method === TOOL_CALL || method === 'prompts/get' ? value.arguments : value
  const judged = AS_READS.has(method) ? READ : method
  return { server, method: judged, name, args: isObject(args) ? args : {} }
}

/** A call that a person or a program asks about, with its arguments as JSON. */
export interface AskedCall {
  readonly method: string
  readonly name: string
  readonly args: string
}

/** The request that a client would send. Throws an InputError if the gate would not read it. */
export function toRequest({ method, name, args }: AskedCall): JsonRpcRequest {
  const target = isAboutResource(method) ? { uri: name } : { name }
  const call = JSON.stringify({ jsonrpc: '2.0', id: 0, method, params: target })
  const read = readMessages(`${call.slice(0, -2)},"arguments":${args}}}`, { batches: false })
  const [message] = read.ok ? read.messages : []
  if (message?.kind === 'request') return message
  throw new InputError(`the call: ${read.ok ? 'no request' : read.message}`, 'send JSON')
}

/** Policy would judge `path` while a server that ignores case acts on `Path`. */
export function objectionTo({ params }: JsonRpcRequest, tool?: KnownTool): string | undefined {
  const value = params?.value
  const twin = twinIn(value?.arguments, tool?.definition.inputSchema, SCHEMA_DEPTH_MAX)
  if (twin !== undefined)
    return `the argument \`${twin.slice(0, 64)}\` is like a declared one but for case`
  const unsafe = findUnsafeKeys(value)
  if (unsafe === undefined) return undefined
  if (unsafe.length === 1)
    return `the key \`${unsafe[0]}\` sets a prototype and is not sent to servers`
  const twins = unsafe.map((key) => `\`${key.slice(0, 64)}\``)
  return `the keys ${twins.join(' and ')} of one object are equal but for case: send one of them`
}

function twinIn(
  value: JsonValue | undefined,
  schema: JsonValue | undefined,
  depth: number,
): string | undefined {
  if (!isObject(schema) || depth === 0) return undefined
  if (Array.isArray(value)) return firstOf(value, (item) => twinIn(item, schema.items, depth - 1))
  const { properties } = schema
  if (!isObject(value) || !isObject(properties)) return undefined
  return (
    findCaseVariant(value, properties) ??
    firstOf(Object.keys(value), (key) => twinIn(value[key], getOwn(properties, key), depth - 1))
  )
}

function firstOf<T>(items: readonly T[], look: (item: T) => string | undefined) {
  for (const item of items) {
    const result = look(item)
    if (result !== undefined) return result
  }
  return undefined
}

/** With the tool, and the class of this very call where its arguments settle it. */
export function factsOf(
  { params }: JsonRpcRequest,
  {
    known,
    tool,
    args,
  }: { known: Omit<Facts, 'tool'>; tool: KnownTool | undefined; args: JsonObject },
): Facts {
  const facts: { -readonly [Key in keyof Facts]: Facts[Key] } = {
    ...known,
    // What is beside the arguments goes to the server too.
    holdsSecret: () => argumentsHoldSecret(args, params),
    holds: (kind) => argumentsHoldNumber(args, params, kind),
  }
  if (tool === undefined) return facts
  facts.tool = tool
  const callCategory = classifyCall(tool, args)
  if (callCategory !== undefined) facts.callCategory = callCategory
  return facts
}
