// Files of tool definitions: the tools a policy is checked against, and suggestions for a name that
// is not among them.

import { isOwnTool, markOwnTool } from '@sluice/catalogue/classify/own-tools'
import { CLIENT_TOOLS } from '@sluice/gateway/hooks/client-tools'
import {
  isDefinition,
  type KnownTool,
  type ToolDefinition,
  toToolId,
} from '@sluice/policy/calls/tools'
import { nearest } from '@sluice/policy/document/nearest'
import { getOwn, isObject, type JsonValue } from '@sluice/policy/values/json'
import { CliError } from './errors.ts'
import { TOOLS_FILE_BYTES_MAX } from './limits.ts'
import { fileLimits, readJsonText, readText } from './read-input.ts'
import { noteInstructions } from './server-instructions.ts'

const TOOLS_HELP =
  '`sluice scan --out` writes one; it is `[{ "server": "…", "name": "…", "inputSchema": {…} }, …]`'
/** Where a file that is no array has its definitions. */
const LISTS = ['tools', 'definitions']

/** An array of definitions, each with `server`, with the class of each. The classifier is loaded here
 * because most commands are run without a file of tools. */
export async function readTools(file: string): Promise<KnownTool[]> {
  const { classify, classifyOwn } = await import('@sluice/catalogue/classify/classify')
  return readDefinitions(file).map((definition) => {
    if (!isOwnTool(definition)) return { definition, ...classify(definition) }
    const carriedOut = CLIENT_TOOLS.has(definition.name) ? { isClientTool: true } : {}
    return { definition, ...classifyOwn(definition), ...carriedOut }
  })
}

/** An array of definitions, each with `server`; also as `{ "tools": [] }` (`sluice scan --out`) and as
 * `sluice scan --json` answers. Those of the servers in `builtin` are marked as Sluice's own, and those of a server in
 * `instructions` go with what it says of itself. */
export function readDefinitions(file: string): ToolDefinition[] {
  const text = readText(file, TOOLS_FILE_BYTES_MAX)
  const value = readJsonText(text, `\`${file}\``, {
    help: TOOLS_HELP,
    code: 'CLI_TOOLS',
    limits: fileLimits(TOOLS_FILE_BYTES_MAX),
  })
  const list = isObject(value)
    ? (LISTS.map((key) => value[key]).find(Array.isArray) ?? value)
    : value
  if (!Array.isArray(list))
    throw new CliError('CLI_TOOLS', `\`${file}\` is not an array of tool definitions`, TOOLS_HELP)
  const builtin = isObject(value) && Array.isArray(value.builtin) ? value.builtin : []
  const said = isObject(value) && isObject(value.instructions) ? value.instructions : {}
  const seen = new Map<string, number>()
  return list.map((item: JsonValue, index: number) => {
    const { server, name } = isObject(item) ? item : {}
    if (!isObject(item) || !isDefinition(item) || server === '' || name === '')
      throw new CliError(
        'CLI_TOOLS',
        `entry ${index + 1} of \`${file}\` has no \`${typeof server === 'string' ? 'name' : 'server'}\``,
        'each definition has `server` and `name`, as text',
      )
    const id = `${server}/${name}`
    const before = seen.get(id)
    if (before !== undefined)
      throw new CliError(
        'CLI_TOOLS',
        `\`${id}\` appears twice in \`${file}\`, as entry ${before} and ${index + 1}`,
        'keep one',
      )
    seen.set(id, index + 1)
    if (builtin.includes(item.server)) markOwnTool(item)
    const instructions = getOwn(said, item.server)
    if (typeof instructions === 'string') noteInstructions([item], instructions)
    return item
  })
}

/** The tool of this name: a known one, or one without declarations. */
export async function createToolFinder(
  tools: readonly KnownTool[],
): Promise<(server: string, name: string) => KnownTool> {
  const { classify } = await import('@sluice/catalogue/classify/classify')
  const known = new Map(tools.map((tool) => [toToolId(tool), tool]))
  return (server, name) => {
    const tool = known.get(`${server}/${name}`)
    if (tool !== undefined) return tool
    const definition = { server, name, inputSchema: { type: 'object', additionalProperties: true } }
    const made = { definition, ...classify(definition) }
    known.set(`${server}/${name}`, made)
    return made
  }
}

/** `did you mean …?`, by the whole name or by the tool's own name on some server. */
export function suggestTool(id: string, tools: readonly KnownTool[]): string | undefined {
  const name = id.slice(id.indexOf('/') + 1)
  const twin = tools.filter(({ definition }) => definition.name === name)
  const near = twin.length === 1 ? toToolId(twin[0] as KnownTool) : nearest(id, tools.map(toToolId))
  return near === undefined ? undefined : `did you mean \`${near}\`?`
}
