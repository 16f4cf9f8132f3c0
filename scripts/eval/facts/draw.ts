// Which tools are labelled with facts, and which half they are in: both follow from the definitions and a seed, before
// anything is labelled. Servers of one product are in one half.

import type { ToolDefinition } from '@sluice/policy/calls/tools'
import { isObject, type JsonObject } from '@sluice/policy/values/json'
import { Random } from '../../../test/fuzz/mutate.ts'
import { assignProducts } from '../catalogue/split.ts'

const SEED = 55
const TOOLS = 300
const PER_SERVER_MAX = 4

/** `first`: rules may be written for it. `second`: scored once. */
export type Half = 'first' | 'second'

export interface DrawnTool {
  readonly tool: ToolDefinition
  readonly half: Half
}

/** In the order of the draw. */
export function drawTools(definitions: readonly ToolDefinition[]): DrawnTool[] {
  const random = new Random(SEED)
  const byServer = groupByServer(definitions)
  const servers = [...byServer.keys()].sort()
  const candidates = servers.flatMap((server) => {
    const own = [...(byServer.get(server) ?? [])].sort((a, b) => (a.name < b.name ? -1 : 1))
    return shuffle(own, random).slice(0, PER_SERVER_MAX)
  })
  const drawn = shuffle(candidates, random).slice(0, TOOLS)
  const halves = assignHalves(servers, random)
  return drawn.map((tool) => ({ tool, half: halves.get(tool.server) as Half }))
}

export function groupByServer(
  definitions: readonly ToolDefinition[],
): ReadonlyMap<string, readonly ToolDefinition[]> {
  const groups = new Map<string, ToolDefinition[]>()
  for (const tool of definitions) {
    const group = groups.get(tool.server) ?? []
    groups.set(tool.server, group)
    group.push(tool)
  }
  return groups
}

function assignHalves(servers: readonly string[], random: Random): ReadonlyMap<string, Half> {
  const products = assignProducts(servers)
  const order = shuffle([...new Set(products.values())].sort(), random)
  const first = new Set(order.filter((_, at) => at % 2 === 0))
  return new Map(
    servers.map((server) => [server, first.has(products.get(server) ?? '') ? 'first' : 'second']),
  )
}

export function shuffle<Item>(items: readonly Item[], random: Random): Item[] {
  const rest = [...items]
  const shuffled: Item[] = []
  while (rest.length > 0) shuffled.push(...rest.splice(random.next(rest.length), 1))
  return shuffled
}

/** A tool as a reader sees it. */
export interface ReaderTool {
  readonly id: string
  readonly server: string
  readonly name: string
  readonly description: string
  /** By name: type, whether it is required, choices, the beginning of its description. */
  readonly arguments: Readonly<Record<string, string>>
}

const DESCRIPTION_CHARS_MAX = 900
const ARGUMENTS_MAX = 25
const ARGUMENT_CHARS_MAX = 110

export function toReaderTool({ tool }: DrawnTool, at: number): ReaderTool {
  const { server, name, description, inputSchema } = tool
  const { properties, required } = isObject(inputSchema) ? inputSchema : {}
  const all = isObject(properties) ? Object.entries(properties) : []
  const needed = Array.isArray(required) ? required : []
  const shown = all
    .slice(0, ARGUMENTS_MAX)
    .map(([key, one]) => [key, describe(one as JsonObject, needed.includes(key))] as const)
  return {
    id: `t${String(at + 1).padStart(3, '0')}`,
    server,
    name,
    description: String(description ?? '').slice(0, DESCRIPTION_CHARS_MAX),
    arguments: Object.fromEntries(shown),
  }
}

function describe(schema: JsonObject, isRequired: boolean): string {
  const { type, description } = schema
  const choices = Array.isArray(schema.enum) ? schema.enum.slice(0, 12).join('|') : ''
  const inner = isObject(schema.properties) ? `{${Object.keys(schema.properties)}}` : ''
  const said = typeof description === 'string' ? description.replaceAll(/\s+/g, ' ') : ''
  const parts = [
    `${type ?? ''}${isRequired ? ', required' : ''}`,
    choices || inner,
    said.slice(0, ARGUMENT_CHARS_MAX),
  ]
  return parts.filter((part) => part !== '').join('; ')
}
