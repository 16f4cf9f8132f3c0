// The two protocol generations of MCP: `session`, which starts with `initialize` (up to
// 2025-11-25), and `stateless`, where each request has its own version and capabilities
// (2026-07-28). A request identifies its generation; one with marks of both would be read
// differently by two peers. Pure.

import { toWordSet } from '@sluice/policy/structures/word-set'
import { isObject, type JsonObject, type JsonValue } from '@sluice/policy/values/json'
import type { JsonRpcRequest, ParsedMembers } from './message.ts'

export type ProtocolGeneration = 'session' | 'stateless'

export const STATELESS_REVISION = '2026-07-28'

/** Members of `_meta` that the stateless generation needs on every request. */
export const META = {
  version: 'io.modelcontextprotocol/protocolVersion',
  client: 'io.modelcontextprotocol/clientInfo',
  capabilities: 'io.modelcontextprotocol/clientCapabilities',
  logLevel: 'io.modelcontextprotocol/logLevel',
  server: 'io.modelcontextprotocol/serverInfo',
  subscription: 'io.modelcontextprotocol/subscriptionId',
} as const

/** In `_meta` of a request: what the user asked for. For the gate only, it is not forwarded. */
export const PROMPT_META = 'sluice/prompt'

/** Methods that only one generation has. */
const OF_SESSIONS = toWordSet(`
  initialize ping logging/setLevel resources/subscribe resources/unsubscribe tasks/list
  tasks/result
`)
const STATELESS_ONLY: ReadonlySet<string> = new Set([
  'server/discover',
  'subscriptions/listen',
  'tasks/update',
])

export function belongsTo(generation: ProtocolGeneration, method: string): boolean {
  return !(generation === 'session' ? STATELESS_ONLY : OF_SESSIONS).has(method)
}

export function getMeta(params: ParsedMembers | undefined): JsonObject {
  const meta = params?.value._meta
  return isObject(meta) ? meta : NO_META
}

const NO_META: JsonObject = Object.freeze({})

/** The version a request declares; undefined in the session generation. */
export function getVersion({ params }: JsonRpcRequest): JsonValue | undefined {
  return getMeta(params)[META.version]
}

/** The extension that a client declares; without it no task may be returned. */
export const TASKS = 'io.modelcontextprotocol/tasks'

export function knowsTasks(params: ParsedMembers | undefined): boolean {
  const capabilities = getMeta(params)[META.capabilities]
  const extensions = isObject(capabilities) ? capabilities.extensions : undefined
  return isObject(extensions) && extensions[TASKS] !== undefined
}

/** What is wrong with a request of the stateless generation, if anything. */
export function checkStatelessMeta(
  request: JsonRpcRequest,
): 'version' | 'capabilities' | 'unsupported' | undefined {
  const meta = getMeta(request.params)
  if (typeof meta[META.version] !== 'string') return 'version'
  if (meta[META.version] !== STATELESS_REVISION) return 'unsupported'
  return isObject(meta[META.capabilities]) ? undefined : 'capabilities'
}

/** List change notifications -> the member of a stateless subscription that requests them. */
export const LIST_CHANGES: ReadonlyMap<string, string> = new Map([
  ['notifications/tools/list_changed', 'toolsListChanged'],
  ['notifications/prompts/list_changed', 'promptsListChanged'],
  ['notifications/resources/list_changed', 'resourcesListChanged'],
])
