// A view of the tools of all servers for models that cannot afford every definition: `search_tools` and `describe_tools`
// are answered from the merged list, and `call_tool` becomes the ordinary call of the tool it names, before routing; in
// the mode `code` a program calls the tools (agents/mcp/code-server.ts). The view permits nothing and hides nothing: decisions, limits and records are those of the direct call.

import { hash } from 'node:crypto'
import { writeProgramName, writeSignature } from '@sluice/catalogue/search/signature'
import {
  indexTools,
  QUERY_LENGTH_MAX,
  rankTools,
  readToolTerms,
  type ToolIndex,
  type ToolTerms,
} from '@sluice/catalogue/search/tool-index'
import type { ToolDefinition } from '@sluice/policy/calls/tools'
import { LruMap } from '@sluice/policy/structures/lru-map'
import { isObject, type JsonObject } from '@sluice/policy/values/json'
import { isToolFor } from '@sluice/protocol/extensions'
import { withMembers } from '@sluice/protocol/members'
import type { JsonRpcRequest } from '@sluice/protocol/message'
import { joinName } from '@sluice/protocol/tool-names'
import {
  DESCRIBED_TOOLS_MAX,
  FOUND_TOOLS_MAX,
  INDEXED_TOOLS_CACHED_MAX,
  NAMED_SERVERS_MAX,
} from '../shared/limits.ts'
import { runInSlices, Slices } from '../shared/slices.ts'
import { CALL_TOOL, RUN_CODE, readInnerCall } from '../shared/tool-mode.ts'
import type { View } from '../shared/view.ts'
import type { AggregateMember } from './member.ts'
import type { MergedLists } from './merge-lists.ts'

export interface ToolModesContext {
  readonly lists: Pick<MergedLists, 'recentTools' | 'tools'>
  /** In the mode `code`: the server whose `run_code` runs the programs that call the other tools. */
  readonly codeServer?: string | undefined
  /** What the client is listed of the tools; undefined for all of them. */
  readonly view?: (() => View | undefined) | undefined
  readonly members: () => Iterable<AggregateMember>
}

/** What a call of a tool of the mode comes to: an answer of the gate, or the request that it stands for. */
type TakenCall =
  | { readonly answer: () => string | Promise<string> }
  | { readonly request: JsonRpcRequest }

/** A visible tool. `text` is its definition as the client may read it. */
interface ListedTool {
  readonly server: string
  readonly name: string
  /** How a program names it. */
  readonly programName: string
  readonly text: string
  readonly terms: ToolTerms
}

/** The index of what a search finds, for the lists that it was made of. */
interface IndexedLists {
  readonly lists: readonly (readonly ListedTool[])[]
  readonly tools: readonly ListedTool[]
  readonly index: ToolIndex
}

const FOUND_DEFAULT = 10

/** By the digest of view, server and definition; definitions rarely change, and sessions share them. */
const indexed = new LruMap<string, ListedTool | null>(INDEXED_TOOLS_CACHED_MAX)

const TEXT = { type: 'string' }

export class ToolModes {
  readonly #context: ToolModesContext
  /** By the list that a server gave, which is the same object until it is asked again. */
  readonly #read = new WeakMap<readonly string[], readonly ListedTool[]>()
  #indexed: IndexedLists | undefined

  constructor(context: ToolModesContext) {
    this.#context = context
  }

  /** The result of `tools/list`. Other tools are called by `call_tool`, or by `run_code` if the client may see it. */
  async list(): Promise<string> {
    const { codeServer } = this.#context
    const all = (await this.#lists()).flat()
    const servers = all.map(({ server }) => server).filter((name) => name !== codeServer)
    const found = 'Finds tools by what they do; returns signatures. Name the product if you can.'
    const sought = { query: TEXT, server: TEXT, limit: { type: 'integer' } }
    const full = 'Returns full definitions, if a signature is not enough.'
    const call = 'Calls a tool that search_tools found, with the arguments of its signature.'
    const programs = all.filter(({ server }) => server === codeServer)
    const tools = [
      define('search_tools', `${found} ${nameServers(servers)}`, sought),
      define('describe_tools', full, { names: { type: 'array', items: TEXT } }),
      ...(codeServer === undefined
        ? [define(CALL_TOOL, call, { name: TEXT, arguments: { type: 'object' } })]
        : programs.map(({ text }) => ({ ...(JSON.parse(text) as JsonObject), name: RUN_CODE }))),
    ]
    return JSON.stringify({ tools })
  }

  /** Undefined if the call is not one of the mode's tools. */
  take(request: JsonRpcRequest): TakenCall | undefined {
    const { name, arguments: given } = request.params?.value ?? {}
    const args = isObject(given) ? given : {}
    if (name === 'search_tools') return { answer: () => this.#search(args) }
    if (name === 'describe_tools') return { answer: () => this.#describe(args) }
    const { codeServer } = this.#context
    if (name === RUN_CODE && codeServer !== undefined) {
      const own = JSON.stringify(joinName(codeServer, RUN_CODE, () => ''))
      return { request: { ...request, params: withMembers(request.params, { name: own }) } }
    }
    if (name !== CALL_TOOL) return undefined
    const inner = readInnerCall(request)
    return typeof inner === 'string' ? { answer: () => failed(inner) } : { request: inner }
  }

  async #search({ query, server, limit = FOUND_DEFAULT }: JsonObject): Promise<string> {
    if (typeof query !== 'string' || query.trim() === '')
      return failed('`query` is missing: say in a few words what the tool does')
    if (query.length > QUERY_LENGTH_MAX)
      return failed(`\`query\` has ${query.length} characters: at most ${QUERY_LENGTH_MAX}`)
    if (!Number.isInteger(limit) || Number(limit) < 1 || Number(limit) > FOUND_TOOLS_MAX)
      return failed(
        `\`limit\` is \`${JSON.stringify(limit)}\`: a number from 1 to ${FOUND_TOOLS_MAX}`,
      )
    const { tools: all, index: ofAll } = await this.#index()
    const tools = server === undefined ? all : all.filter((tool) => tool.server === server)
    const index = server === undefined ? ofAll : await indexInSlices(tools)
    const ranked = await runInSlices(rankTools(index, query, Number(limit)), 'list')
    if (ranked.length > 0)
      return answered(ranked.map((at) => this.#sign(tools[at] as ListedTool)).join('\n'))
    return answered(
      `No tool found: try other words. ${nameServers(all.map((tool) => tool.server))}`,
    )
  }

  async #describe({ names }: JsonObject): Promise<string> {
    if (!Array.isArray(names) || names.length === 0 || names.length > DESCRIBED_TOOLS_MAX)
      return failed(`\`names\` must be a list of 1 to ${DESCRIBED_TOOLS_MAX} names of tools`)
    const { tools } = await this.#index()
    const texts = names.map((name) => {
      const found = tools.find((tool) => tool.name === name || tool.programName === name)
      return found?.text ?? `Unknown tool: ${String(name).slice(0, QUERY_LENGTH_MAX)}`
    })
    return answered(texts.join('\n'))
  }

  #sign({ name, programName, text }: ListedTool): string {
    const isCode = this.#context.codeServer !== undefined
    const definition = JSON.parse(text) as ToolDefinition
    return writeSignature(name, definition, isCode ? programName : undefined)
  }

  /** What a search finds, everything but `run_code` of the mode, indexed again only if a list is another. */
  async #index(): Promise<IndexedLists> {
    const lists = await this.#lists()
    const known = this.#indexed
    const isSame = lists.length === known?.lists.length
    if (isSame && lists.every((list, at) => list === known.lists[at])) return known
    const tools = lists.flat().filter(({ server }) => server !== this.#context.codeServer)
    this.#indexed = { lists, tools, index: await indexInSlices(tools) }
    return this.#indexed
  }

  /** What the caller may see of each server: its relay has filtered the list. */
  async #lists(): Promise<(readonly ListedTool[])[]> {
    const { lists, members } = this.#context
    const all = [...members()]
    const listed = await Promise.all(all.map((member) => lists.recentTools(member)))
    const slices = new Slices()
    const tools: (readonly ListedTool[])[] = []
    for (const [at, { name: server }] of all.entries())
      tools.push(await this.#readList(server, listed[at] ?? [], slices))
    return tools
  }

  async #readList(
    server: string,
    texts: readonly string[],
    slices: Slices,
  ): Promise<readonly ListedTool[]> {
    const known = this.#read.get(texts)
    if (known !== undefined) return known
    const tools: ListedTool[] = []
    for (const text of texts) {
      if (slices.isOver) await slices.next()
      const tool = this.#readTool(server, text)
      if (tool !== null) tools.push(tool)
    }
    this.#read.set(texts, tools)
    return tools
  }

  #readTool(server: string, text: string): ListedTool | null {
    const view = this.#context.view?.()?.digest ?? ''
    const key = hash('sha256', `${view} ${server} ${text}`)
    const known = indexed.get(key)
    if (known !== undefined) return known
    const definition = JSON.parse(text) as ToolDefinition & JsonObject
    const { name } = definition
    const own = this.#context.lists.tools.find(name)?.name ?? name
    const terms = readToolTerms({ ...definition, server, name: own })
    const listed = { server, name, programName: writeProgramName(server, own), text, terms }
    const tool = isToolFor('model', definition) ? listed : null
    indexed.set(key, tool)
    return tool
  }
}

function indexInSlices(tools: readonly ListedTool[]): Promise<ToolIndex> {
  return runInSlices(indexTools(tools.map(({ terms }) => terms)), 'list')
}

/** A tool of the mode, whose first argument is required. Clients ask before a call that may do anything. */
function define(name: string, description: string, properties: JsonObject): JsonObject {
  const annotations =
    name === CALL_TOOL ? { destructiveHint: true, openWorldHint: true } : { readOnlyHint: true }
  const required = Object.keys(properties).slice(0, 1)
  return { name, description, inputSchema: { type: 'object', properties, required }, annotations }
}

function nameServers(servers: readonly string[]): string {
  const names = [...new Set(servers)]
  const more = names.length > NAMED_SERVERS_MAX ? ', …' : ''
  return `Servers: ${names.slice(0, NAMED_SERVERS_MAX).join(', ') || 'none'}${more}.`
}

function answered(text: string): string {
  return JSON.stringify({ content: [{ type: 'text', text }] })
}

function failed(text: string): string {
  return JSON.stringify({ content: [{ type: 'text', text }], isError: true })
}
