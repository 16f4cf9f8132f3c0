// The agents' MCP server: every tool of the table with its schemas and annotations, answers as one
// JSON text and the same as structured content, failures with `isError`. One server is one caller:
// who that is was decided by whoever connects it. Used over stdio and, in the gate, in process.

import { McpServer, ResourceTemplate, SdkError } from '@modelcontextprotocol/server'
import { TOOLS } from './all-tools.ts'
import { Gallery } from './gallery.ts'
import { LIST_PAGE_MAX } from './limits.ts'
import type { Progress } from './run-watch.ts'
import type { Service } from './service.ts'
import type { Category } from './tool-table.ts'
import { todoView } from './views.ts'

export interface Caller {
  /** The principal's name; agents belong to it. */
  readonly owner: string
  /** Set where the caller is an agent itself: what it makes joins its family. */
  readonly agent?: string
}

/** Array elements and members in the arguments of one call. */
const INPUT_ELEMENTS_MAX = 200_000
const INSTRUCTIONS =
  'Agents in WebAssembly sandboxes. wasm_agent_create, then wasm_agent_prompt; wasm_agent_todos and ' +
  'wasm_agent_files show how it goes, wasm_agent_export takes an agent along.'

export function createAgentsServer(service: Service, caller: Caller, version: string): McpServer {
  const server = new McpServer(
    { name: 'sluice-agents', version },
    { instructions: INSTRUCTIONS, maxToolInputElements: INPUT_ELEMENTS_MAX },
  )
  const gallery = new Gallery(service.steps)
  for (const entry of TOOLS)
    server.registerTool(
      entry.name,
      {
        title: entry.title,
        description: entry.description,
        inputSchema: entry.input,
        outputSchema: entry.output,
        annotations: annotationsOf(entry.category),
      },
      async (input, { mcpReq }) => {
        const token = mcpReq._meta?.progressToken
        let progress = 0
        const onProgress = ({ message, turn }: Progress): void => {
          progress += 1
          const params = {
            progressToken: token ?? '',
            progress,
            message: `turn ${turn}: ${message}`,
          }
          mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined)
        }
        const setting = {
          service,
          gallery,
          owner: caller.owner,
          parent: caller.agent,
          signal: cancellationOf(mcpReq.signal),
          onProgress: token === undefined ? undefined : onProgress,
        }
        try {
          return answer(await entry.run(input as never, setting))
        } catch (error) {
          return failure(error)
        }
      },
    )
  addResources(server, service, caller.owner)
  return server
}

/** A lost connection ends no run; only the client's own word does. */
function cancellationOf(signal: AbortSignal): AbortSignal {
  const own = new AbortController()
  signal.addEventListener('abort', () => {
    if (!(signal.reason instanceof SdkError)) own.abort()
  })
  return own.signal
}

function annotationsOf(category: Category) {
  return {
    readOnlyHint: category === 'Read',
    destructiveHint: category === 'Destructive',
    openWorldHint: category === 'Execute',
  }
}

function answer(value: object) {
  return {
    content: [{ type: 'text' as const, text: JSON.stringify(value) }],
    structuredContent: value as Record<string, unknown>,
  }
}

function failure(error: unknown) {
  const { code, message } = error as { code?: string; message?: string }
  const said = { error: message ?? String(error), code: code ?? 'AGENT_FAULT' }
  return { content: [{ type: 'text' as const, text: JSON.stringify(said) }], isError: true }
}

function addResources(server: McpServer, service: Service, owner: string): void {
  const json = 'application/json'
  const listed = (part: string) => async () => {
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
      const { value } = await service.ask<never[]>(owner, one(id), { ask: 'todos' })
      const text = JSON.stringify(todoView(one(id), value))
      return { contents: [{ uri: uri.href, mimeType: json, text }] }
    },
  )
  server.registerResource(
    'export',
    new ResourceTemplate('agent://{id}/export', { list: undefined }),
    { title: 'Export of an agent, secrets replaced', mimeType: json },
    async (uri, { id }) => {
      const { exported } = await service.export(owner, one(id), 'json', 'redact')
      return { contents: [{ uri: uri.href, mimeType: json, text: JSON.stringify(exported) }] }
    },
  )
  server.registerResource(
    'files',
    new ResourceTemplate('agent://{id}/files/{+path}', { list: undefined }),
    { title: 'A file of an agent' },
    async (uri, { id, path }) => {
      const asked = { ask: 'read', path: one(path) } as const
      const { value, content } = await service.ask<{ isText: boolean }>(owner, one(id), asked)
      const bytes = Buffer.from(content ?? [])
      const about = { uri: uri.href }
      return value.isText
        ? { contents: [{ ...about, mimeType: 'text/plain', text: bytes.toString('utf8') }] }
        : { contents: [{ ...about, blob: bytes.toString('base64') }] }
    },
  )
}
