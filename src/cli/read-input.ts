// Files and JSON from the command line, into the engine's types. Everything wrong is a CliError
// that names the file, the place and what to do.

import { readFileSync, statSync } from 'node:fs'
import { classify } from '../catalogue/classify.ts'
import { isObject, type JsonObject, type JsonValue } from '../core/json.ts'
import type { KnownTool, ToolDefinition } from '../core/tools.ts'
import type { Problem } from '../document/problem.ts'
import { type CompileOptions, compile } from '../policy/compile.ts'
import type { CompiledPolicy } from '../policy/policy.ts'
import { readJson } from '../wire/read-json.ts'
import { CliError } from './errors.ts'
import { TEXT_FILE_BYTES_MAX, TOOLS_FILE_BYTES_MAX } from './limits.ts'
import type { Output } from './output.ts'

export function readText(file: string, bytesMax = TEXT_FILE_BYTES_MAX): string {
  try {
    const { size } = statSync(file)
    if (size > bytesMax)
      throw new CliError(
        'CLI_FILE',
        `\`${file}\` has ${size} bytes, the limit is ${bytesMax}`,
        'split it',
      )
    return readFileSync(file, 'utf8').replace(/^\uFEFF/, '')
  } catch (error) {
    if (error instanceof CliError) throw error
    const { code, message } = error as NodeJS.ErrnoException
    const why =
      code === 'ENOENT'
        ? 'is not there'
        : code === 'EISDIR'
          ? 'is a folder'
          : `cannot be read: ${message}`
    throw new CliError('CLI_FILE', `\`${file}\` ${why}`, 'name another file')
  }
}

export function readJsonText(text: string, what: string): JsonValue {
  const read = readJson(text)
  if (read.ok) return read.value
  const before = text.slice(0, read.offset).split('\n')
  const place =
    before.length > 1
      ? `line ${before.length}, column ${(before.at(-1) as string).length + 1}`
      : `character ${read.offset + 1}`
  throw new CliError(
    'CLI_ARGUMENT',
    `${what} is not JSON: ${read.message} at ${place}`,
    'mend it there',
  )
}

export function readObject(text: string, what: string): JsonObject {
  const value = readJsonText(text, what)
  if (!isObject(value))
    throw new CliError(
      'CLI_ARGUMENT',
      `${what} is not a JSON object`,
      'write it as `{"name": value}`',
    )
  return value
}

/** An array of definitions, each with `server`. */
export function readTools(file: string): KnownTool[] {
  const value = readJsonText(readText(file, TOOLS_FILE_BYTES_MAX), `\`${file}\``)
  if (!Array.isArray(value))
    throw new CliError(
      'CLI_TOOLS',
      `\`${file}\` is not an array of tool definitions`,
      'write `[{ "server": "…", "name": "…", "inputSchema": {…} }, …]`',
    )
  const seen = new Map<string, number>()
  return value.map((item: JsonValue, index: number) => {
    const { server, name } = isObject(item) ? item : {}
    if (typeof server !== 'string' || typeof name !== 'string' || server === '' || name === '')
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
        `\`${id}\` stands twice in \`${file}\`, as entry ${before} and ${index + 1}`,
        'keep one',
      )
    seen.set(id, index + 1)
    const definition = item as unknown as ToolDefinition
    return { definition, ...classify(definition) }
  })
}

/** Compiles, prints what is wrong, and goes on only without errors. */
export function loadPolicy(
  file: string,
  options: CompileOptions,
  output: Output,
  text = readText(file),
): { policy: CompiledPolicy; problems: readonly Problem[]; text: string } {
  const { policy, problems } = compile({ file, text }, options)
  if (policy !== undefined) return { policy, problems, text }
  for (const problem of problems) output.problem(problem, text)
  const count = problems.filter(({ severity }) => severity === 'error').length
  const errors = `${count} error${count === 1 ? '' : 's'}`
  const help = 'mend it; `sluice policy check` shows them'
  throw new CliError('CLI_POLICY', `\`${file}\` has ${errors}`, help)
}

/** The tool of this name: a known one, or one about which nothing is declared. */
export function toolFinder(
  tools: readonly KnownTool[],
): (server: string, name: string) => KnownTool {
  const known = new Map(
    tools.map((tool) => [`${tool.definition.server}/${tool.definition.name}`, tool]),
  )
  return (server, name) => {
    const tool = known.get(`${server}/${name}`)
    if (tool !== undefined) return tool
    const definition = { server, name, inputSchema: { type: 'object', additionalProperties: true } }
    const made = { definition, ...classify(definition) }
    known.set(`${server}/${name}`, made)
    return made
  }
}
