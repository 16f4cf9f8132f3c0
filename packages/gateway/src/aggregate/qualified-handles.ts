// Handles that servers choose (ids of their requests, progress tokens, task ids), as a client of all
// servers sees them: with the server's name before, so that no two are equal and each says where it
// belongs. Nothing is kept here: what comes back is taken apart again, and the relay of that server
// knows whether it ever gave it out. Pure.

import type { JsonObject } from '@sluice/policy/values/json'
import { editElements, editMember } from '@sluice/protocol/members'
import type {
  JsonRpcNotification,
  JsonRpcRequest,
  JsonRpcResponse,
  ParsedMembers,
  RequestId,
} from '@sluice/protocol/message'
import type { ProtocolGeneration } from '@sluice/protocol/protocol-generation'
import { writeNotification, writeRequest } from '@sluice/protocol/write-message'

const RELATED_TASK = 'io.modelcontextprotocol/related-task'
const TASK_OF_META = ['_meta', RELATED_TASK, 'taskId']

/** Where the result of a method has the id of a task, beside `_meta`. */
const TASK_OF_RESULT: Readonly<
  Record<ProtocolGeneration, Readonly<Record<string, readonly string[]>>>
> = {
  session: {
    'tools/call': ['task', 'taskId'],
    'tasks/get': ['taskId'],
    'tasks/cancel': ['taskId'],
  },
  stateless: { 'tools/call': ['taskId'], 'tasks/get': ['taskId'], 'tasks/cancel': ['taskId'] },
}

/** A string or a number, told apart by its JSON text. */
export function qualifyHandle(server: string, handle: RequestId): string {
  return qualifyTaskId(server, JSON.stringify(handle))
}

export function unqualifyHandle(far: unknown): { server: string; handle: RequestId } | undefined {
  const parted = unqualifyTaskId(far)
  if (parted === undefined) return undefined
  try {
    const handle: unknown = JSON.parse(parted.taskId)
    if (typeof handle !== 'string' && typeof handle !== 'number') return undefined
    return { server: parted.server, handle }
  } catch {
    return undefined
  }
}

export function qualifyTaskId(server: string, taskId: string): string {
  return `${server}:${taskId}`
}

/** No server's name has a colon. */
export function unqualifyTaskId(far: unknown): { server: string; taskId: string } | undefined {
  const at = typeof far === 'string' ? far.indexOf(':') : -1
  if (typeof far !== 'string' || at < 0) return undefined
  return { server: far.slice(0, at), taskId: far.slice(at + 1) }
}

/** Addresses of these schemes always say which server they belong to, so that none changes when a server is added. */
const ADDRESS = /^(skill|ui):\/\/(.*)$/s
const QUALIFIED = /^(skill|ui):\/\/([^/]+)\/(.*)$/s

export function qualifyUri(server: string, uri: string): string {
  return uri.replace(ADDRESS, (_, scheme, rest) => `${scheme}://${server}/${rest}`)
}

export function unqualifyUri(far: string): { server: string; uri: string } | undefined {
  const [, scheme, server, rest] = QUALIFIED.exec(far) ?? []
  return server === undefined ? undefined : { server, uri: `${scheme}://${rest}` }
}

/** An entry of `skills/list`, with the addresses of its files. */
export function skillForClient(server: string, entry: string): string {
  const files = (list: string) => (list.startsWith('[') ? addressesIn(server, list) : list)
  return editMember(addressIn(server, entry), ['resources'], files)
}

/** The definition of a tool, with the address of its app's page. */
export function toolForClient(server: string, definition: string): string {
  if (!definition.includes('ui://')) return definition
  const far = (text: string) => renamed(text, (uri) => qualifyUri(server, `${uri}`))
  const newer = editMember(definition, ['_meta', 'ui', 'resourceUri'], far)
  return editMember(newer, ['_meta', 'ui/resourceUri'], far)
}

/** The result of a request that named a resource by its qualified address. */
export function addressesForClient(server: string, method: string, resultText: string): string {
  if (method === 'skills/get')
    return editMember(resultText, ['skill'], (entry) => skillForClient(server, entry))
  const key = method === 'resources/read' ? 'contents' : 'resources'
  return editMember(resultText, [key], (list) => addressesIn(server, list))
}

function addressesIn(server: string, list: string): string {
  return editElements(list, (entry) => addressIn(server, entry))
}

function addressIn(server: string, entry: string): string {
  return editMember(entry, ['uri'], (text) => renamed(text, (uri) => qualifyUri(server, `${uri}`)))
}

/** A request of a server's, as the client is to read it. */
export function requestForClient(server: string, { id, method, params }: JsonRpcRequest): string {
  return writeRequest(qualifyHandle(server, id), method, paramsForClient(server, params))
}

export function notificationForClient(
  server: string,
  { method, params }: JsonRpcNotification,
): string {
  const far = paramsForClient(server, params)
  if (method === 'notifications/cancelled')
    rename(far, 'requestId', (id) => qualifyHandle(server, id))
  if (method === 'notifications/resources/updated')
    rename(far, 'uri', (uri) => qualifyUri(server, `${uri}`))
  if (method === 'notifications/tasks/status')
    rename(far, 'taskId', (id) => qualifyTaskId(server, `${id}`))
  return writeNotification(method, far)
}

/** The result of a client's request. Only looked into where it may have the id of a task. */
export function resultForClient(
  server: string,
  method: string,
  resultText: string,
  generation: ProtocolGeneration,
): string {
  if (!resultText.includes('taskId')) return resultText
  const far = (text: string) => renamed(text, (id) => qualifyTaskId(server, `${id}`))
  const path = TASK_OF_RESULT[generation][method]
  const outer = path === undefined ? resultText : editMember(resultText, path, far)
  return editMember(outer, TASK_OF_META, far)
}

/** `params` of a client's request, as the server knows them. */
export function paramsForServer(server: string, params: ParsedMembers): ParsedMembers {
  const meta = params.text.get('_meta')
  if (meta === undefined || !meta.includes(RELATED_TASK)) return params
  const text = editMember(meta, TASK_OF_META.slice(1), (id) => nearText(server, id))
  return withMember(params, '_meta', JSON.parse(text) as JsonObject, text)
}

/** A client's answer to a request of a server's. */
export function answerForServer(
  server: string,
  id: RequestId,
  answer: JsonRpcResponse,
): JsonRpcResponse {
  const { result } = answer
  if (!result?.includes(RELATED_TASK)) return { ...answer, id }
  return {
    ...answer,
    id,
    result: editMember(result, TASK_OF_META, (text) => nearText(server, text)),
  }
}

/** `params` with another value for one member; every other has the text it was read from. */
export function withMember(
  { value, text }: ParsedMembers,
  key: string,
  member: JsonObject | RequestId,
  memberText = JSON.stringify(member),
): ParsedMembers {
  return { value: { ...value, [key]: member }, text: new Map(text).set(key, memberText) }
}

function paramsForClient(
  server: string,
  params: ParsedMembers | undefined,
): Map<string, string> | undefined {
  if (params === undefined) return undefined
  const far = new Map(params.text)
  const meta = far.get('_meta')
  if (meta === undefined) return far
  const token = editMember(meta, ['progressToken'], (text) =>
    renamed(text, (handle) => qualifyHandle(server, handle)),
  )
  const task = (text: string) => renamed(text, (id) => qualifyTaskId(server, `${id}`))
  return far.set('_meta', editMember(token, TASK_OF_META.slice(1), task))
}

function rename(
  members: Map<string, string> | undefined,
  key: string,
  change: (handle: RequestId) => string,
): void {
  const text = members?.get(key)
  if (text !== undefined) members?.set(key, renamed(text, change))
}

/** What is neither a string nor a number stays as it is. */
function renamed(text: string, change: (handle: RequestId) => string): string {
  const handle: unknown = JSON.parse(text)
  if (typeof handle !== 'string' && typeof handle !== 'number') return text
  return JSON.stringify(change(handle))
}

/** A task of another server's is left as it is: here nobody knows it. */
function nearText(server: string, text: string): string {
  const parted = unqualifyTaskId(JSON.parse(text))
  return parted?.server === server ? JSON.stringify(parted.taskId) : text
}
