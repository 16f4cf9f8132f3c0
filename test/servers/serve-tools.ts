// A small MCP server over stdio for servers with tools of their own and state in one JSON file, which
// is read before and written after every call, so that it can be replaced between calls.

import { readFileSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { say, textResult } from './speak.ts'

export interface ServedTool<State> {
  readonly name: string
  readonly description: string
  readonly properties: Readonly<Record<string, object>>
  readonly required?: readonly string[]
  readonly readOnly?: boolean
  /** The text of the answer. Throws a message for the caller. */
  // biome-ignore lint/suspicious/noExplicitAny: a server trusts its input
  run(state: State, args: any): string
}

type Incoming = { id?: number | string; method?: string; params?: Record<string, unknown> }

export const TEXT = { type: 'string' }
export const TEXTS = { type: 'array', items: TEXT }

export function serveTools<State>(file: string, tools: readonly ServedTool<State>[]): void {
  const call = (name: unknown, args: unknown): object => {
    const tool = tools.find((one) => one.name === name)
    if (tool === undefined) return failure(`no tool ${String(name)}`)
    const state = JSON.parse(readFileSync(file, 'utf8')) as State
    try {
      const text = tool.run(state, args ?? {})
      if (tool.readOnly !== true) writeFileSync(file, JSON.stringify(state))
      return textResult(text)
    } catch (error) {
      return failure((error as Error).message)
    }
  }
  createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line) as Incoming
    if (id === undefined) return
    if (method === 'initialize')
      say({ id, result: { protocolVersion: params?.protocolVersion, ...IDENTITY } })
    else if (method === 'tools/list') say({ id, result: { tools: tools.map(toDefinition) } })
    else if (method === 'tools/call') say({ id, result: call(params?.name, params?.arguments) })
    else if (method === 'ping') say({ id, result: {} })
    else say({ id, error: { code: -32601, message: 'no such method' } })
  })
}

const IDENTITY = { capabilities: { tools: {} }, serverInfo: { name: 'fixture', version: '1' } }

function failure(text: string): object {
  return { ...textResult(text), isError: true }
}

function toDefinition<State>(tool: ServedTool<State>): object {
  const { name, description, properties, required = [], readOnly = false } = tool
  return {
    name,
    description,
    inputSchema: { type: 'object', properties, required },
    annotations: { readOnlyHint: readOnly },
  }
}
