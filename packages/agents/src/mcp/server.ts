// The agents' MCP server: every tool of the table with its schemas and annotations, answers as one
// JSON text and the same as structured content, failures with `isError`. One server is one caller:
// the connecting side has authenticated that principal. Used over stdio and, in the gate, in process.

import {
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  ResourceTemplate,
  SdkError,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type { JsonObject } from '@sluice/policy/values/json'
import { CLIENT_GONE, type SessionLabels } from '@sluice/protocol/agent-calls'
import { z } from 'zod'
import type { ProgressListener } from '../runs/run-watch.ts'
import type { Service } from '../service/service.ts'
import { AgentError } from '../shared/errors.ts'
import { LIST_PAGE_MAX } from '../shared/limits.ts'
import { callTool, readArguments, TOOLS, textOf } from '../tools/all-tools.ts'
import { findWriter } from '../tools/find-writer.ts'
import { Gallery } from '../tools/gallery.ts'
import { withLabelFlow } from '../tools/label-flow.ts'
import type { ToolCategory, ToolSetting } from '../tools/tool-table.ts'
import { promptView, todoView } from '../tools/views.ts'
import { RunTasks } from './run-tasks.ts'
import { asHandle, asProtocol, serveTasks, takesTasks } from './serve-tasks.ts'
import { STREAM_META, TEXT_META, TextPieces } from './text-pieces.ts'

export interface AgentsCaller {
  /** The principal's name; agents belong to it. */
  readonly owner: string
  /** Set where the caller is an agent itself: what it makes joins its family. */
  readonly agent?: string | undefined
  /** What its session has seen, in a gate. */
  readonly labels?: SessionLabels | undefined
}

/** Array elements and members in the arguments of one call. */
const INPUT_ELEMENTS_MAX = 200_000
/** The one that can be a task. */
const PROMPT = 'wasm_agent_prompt'
const SLOW: readonly string[] = [PROMPT, 'wasm_agent_wait', 'wasm_agent_tool']
const NAMES: ReadonlySet<string> = new Set(TOOLS.map(({ name }) => name))
const QUICK: ReadonlySet<string> = new Set([...NAMES].filter((name) => !SLOW.includes(name)))
const INSTRUCTIONS =
  'Agents in WebAssembly sandboxes. wasm_agent_create, then wasm_agent_prompt; wasm_agent_todos and ' +
  'wasm_agent_files show how it goes, wasm_agent_export takes an agent along.'

/**
 * The MCP server of agents for one caller. Connect it to a transport of the MCP SDK.
 *
 * @example
 * ```ts
 * const server = createAgentsServer(service, { owner: 'ann' }, '1.0.0')
 * await server.connect(transport)
 * ```
 */
export function createAgentsServer(
  service: Service,
  caller: AgentsCaller,
  version: string,
): McpServer {
  const server = new McpServer({ name: 'sluice-agents', version }, { instructions: INSTRUCTIONS })
  const gallery = new Gallery(service.steps)
  const settingOf = ({ mcpReq }: ServerContext): ToolSetting => ({
    service,
    gallery,
    owner: caller.owner,
    parent: caller.agent,
    labels: caller.labels,
    signal: cancellationOf(mcpReq.signal),
    onProgress: progressOf(mcpReq),
  })
  for (const entry of TOOLS) {
    const registered = server.registerTool(
      entry.name,
      {
        title: entry.title,
        description: entry.description,
        inputSchema: entry.input,
        outputSchema: entry.output,
        annotations: annotationsOf(entry.category),
      },
      (input, context) => respond(entry.name, input, settingOf(context)),
    )
    if (entry.name === PROMPT) registered.execution = { taskSupport: 'optional' }
  }
  const tasks = new RunTasks(service, caller)
  serveCalls(server, tasks, settingOf)
  serveTasks(server, tasks, (ended) => answer(promptView(ended)))
  addResources(server, service, caller)
  return server
}

/** The result of a call, as MCP has it. A type and no interface: the SDK wants to be able to add members. */
export type ToolCallResult = {
  readonly content: { readonly type: 'text'; readonly text: string }[]
  /** The value as an object; absent in an error. */
  readonly structuredContent?: Record<string, unknown>
  readonly isError?: boolean
}

/** A definition as `tools/list` has it. */
export type ListedAgentTool = {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly inputSchema: JsonObject
  readonly annotations: AgentToolAnnotations
}

type AgentToolAnnotations = {
  readonly readOnlyHint: boolean
  readonly destructiveHint: boolean
  readonly openWorldHint: boolean
}

export type DirectToolCall = (name: string, args: object) => Promise<ToolCallResult>

/** Everything but what takes as long as a model, a tool or a person does. */
export function isQuick(name: string): boolean {
  return QUICK.has(name)
}

/** The same calls without the protocol around them: no progress notifications, no cancellation. */
export function createDirectCalls(
  service: Service,
  { owner, agent, labels }: AgentsCaller,
): DirectToolCall {
  const gallery = new Gallery(service.steps)
  const { signal } = new AbortController()
  const about = { service, gallery, owner, parent: agent, labels }
  const setting = { ...about, signal, onProgress: undefined }
  return (name, args) => respond(name, args, setting)
}

async function respond(name: string, args: object, setting: ToolSetting): Promise<ToolCallResult> {
  try {
    if (!hasAtMost(args, INPUT_ELEMENTS_MAX))
      throw new AgentError('AGENT_INPUT', `more than ${INPUT_ELEMENTS_MAX} elements`)
    const value = await callTool(name, args, setting)
    return answer(value, textOf(name, value))
  } catch (error) {
    return failure(error)
  }
}

/** Calls, and those that a client takes as a task: a prompt is one, its run. */
function serveCalls(
  { server }: McpServer,
  tasks: RunTasks,
  settingOf: (context: ServerContext) => ToolSetting,
): void {
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const { name, arguments: args = {} } = params
    if (!NAMES.has(name))
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `there is no tool \`${name}\``)
    const setting = settingOf(context)
    const isAsked = params.task !== undefined
    // Who says how long to wait wants to wait.
    const mayBeTask =
      name === PROMPT && !['waitMs', 'schema'].some((key) => Object.hasOwn(args, key))
    const isTaken = mayBeTask && takesTasks(context)
    if (!isAsked && !isTaken) return respond(name, args, setting)
    if (name !== PROMPT)
      throw new ProtocolError(ProtocolErrorCode.MethodNotFound, `\`${name}\` is not a task`)
    if (Object.hasOwn(args, 'schema'))
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        'the answer of a task is not checked: send `schema` without a task, and wait with wasm_agent_wait',
      )
    if (!hasAtMost(args, INPUT_ELEMENTS_MAX))
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'there are too many elements')
    const { agentId, ...request } = readArguments<{ agentId: string; input: string }>(name, args)
    const prompt = { ...request, writer: findWriter(request.input, setting) }
    const begin = () => tasks.begin(agentId, prompt, setting.onProgress)
    const task = await asProtocol(() => withLabelFlow(name, { agentId }, setting, begin))
    return isAsked ? { content: [], task } : { content: [], ...asHandle(task) }
  })
}

/** Array elements and members, counted before anything else looks at them. */
function hasAtMost(value: unknown, most: number): boolean {
  let left = most
  const open = [value]
  while (open.length > 0) {
    const next = open.pop()
    if (typeof next !== 'object' || next === null) continue
    const inside = Object.values(next)
    left -= inside.length
    if (left < 0) return false
    for (const each of inside) if (typeof each === 'object') open.push(each)
  }
  return true
}

/** A lost connection ends no run; only the client's own word does. */
export function cancellationOf(signal: AbortSignal): AbortSignal {
  const own = new AbortController()
  signal.addEventListener('abort', () => {
    if (!(signal.reason instanceof SdkError) && signal.reason !== CLIENT_GONE) own.abort()
  })
  return own.signal
}

/** Returns undefined if the caller asked for no progress. */
function progressOf(mcpReq: ServerContext['mcpReq']): ProgressListener | undefined {
  const { _meta } = mcpReq
  const progressToken = _meta?.progressToken
  if (progressToken === undefined) return undefined
  let progress = 0
  const report = (about: { message: string; _meta?: Record<string, unknown> }): void => {
    progress += 1
    const params = { progressToken, progress, ...about }
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined)
  }
  const texts = new TextPieces((text) =>
    report({ message: 'the model writes', _meta: { [TEXT_META]: text } }),
  )
  return {
    onEnd: () => texts.flush(),
    onEvent: ({ message, turn }) => {
      texts.flush()
      report({ message: `turn ${turn}: ${message}` })
    },
    ...(_meta?.[STREAM_META] === true ? { onText: (text) => texts.add(text) } : {}),
  }
}

/** The definitions as the server lists them, without a service behind them. */
export function listAgentTools(): ListedAgentTool[] {
  return TOOLS.map(({ name, title, description, input, category }) => ({
    name,
    title,
    description,
    // As it is sent: the type of the library has members that are no JSON.
    inputSchema: JSON.parse(JSON.stringify(z.toJSONSchema(input, { io: 'input' }))),
    annotations: annotationsOf(category),
  }))
}

function annotationsOf(category: ToolCategory): AgentToolAnnotations {
  return {
    readOnlyHint: category === 'Read',
    destructiveHint: category === 'Destructive',
    openWorldHint: category === 'Execute',
  }
}

function answer(value: object, text = JSON.stringify(value)): ToolCallResult {
  return {
    content: [{ type: 'text', text }],
    structuredContent: value as Record<string, unknown>,
  }
}

export function failure(error: unknown): ToolCallResult {
  const { code, message } = error as { code?: string; message?: string }
  const body = { error: message ?? String(error), code: code ?? 'AGENT_FAULT' }
  return { content: [{ type: 'text', text: JSON.stringify(body) }], isError: true }
}

function addResources(server: McpServer, service: Service, { owner, labels }: AgentsCaller): void {
  /** A caller that reads something of an agent gets its family's labels: before, as a refusal tells
   * something too, and after, as the family may have seen more meanwhile. */
  const see = async (id: string): Promise<void> =>
    labels?.see(await service.steps.labelsOf(owner, [id]))
  const json = 'application/json'
  const listed = (part: string) => async () => {
    labels?.see(await service.steps.ownerLabels(owner))
    const rows = await service.steps.list(owner, null, 0, LIST_PAGE_MAX)
    const resources = rows.map(({ id }) => ({
      uri: `agent://${id}/${part}`,
      name: `${part} of ${id}`,
      mimeType: json,
    }))
    return { resources }
  }
  const one = (value: string | string[] | undefined): string =>
    decodeURIComponent(String(Array.isArray(value) ? value.join('/') : (value ?? '')))

  server.registerResource(
    'todos',
    new ResourceTemplate('agent://{id}/todos', { list: listed('todos') }),
    { title: 'Todos of an agent', mimeType: json },
    async (uri, { id }) => {
      await see(one(id))
      const { value } = await service.ask<never[]>(owner, one(id), { ask: 'todos' })
      await see(one(id))
      const text = JSON.stringify(todoView(one(id), value))
      return { contents: [{ uri: uri.href, mimeType: json, text }] }
    },
  )
  server.registerResource(
    'export',
    new ResourceTemplate('agent://{id}/export', { list: undefined }),
    { title: 'Export of an agent, secrets replaced', mimeType: json },
    async (uri, { id }) => {
      await see(one(id))
      const { exported } = await service.export(owner, one(id), 'json', 'redact')
      await see(one(id))
      return { contents: [{ uri: uri.href, mimeType: json, text: JSON.stringify(exported) }] }
    },
  )
  server.registerResource(
    'files',
    new ResourceTemplate('agent://{id}/files/{+path}', { list: undefined }),
    { title: 'A file of an agent' },
    async (uri, { id, path }) => {
      await see(one(id))
      const question = { ask: 'read', path: one(path) } as const
      const { value, content } = await service.ask<{ isText: boolean }>(owner, one(id), question)
      await see(one(id))
      const bytes = Buffer.from(content ?? [])
      const about = { uri: uri.href }
      return value.isText
        ? { contents: [{ ...about, mimeType: 'text/plain', text: bytes.toString('utf8') }] }
        : { contents: [{ ...about, blob: bytes.toString('base64') }] }
    },
  )
}
