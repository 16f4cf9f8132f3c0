// Every tool of the agents' MCP server, and one called by its name without MCP in between: what the
// command line does where it runs the agents itself.

import type { z } from 'zod'
import { AgentError } from '../shared/errors.ts'
import { AGENT_TOOLS } from './agent-tools.ts'
import { GALLERY_TOOLS } from './gallery-tools.ts'
import { INSPECT_TOOLS } from './inspect-tools.ts'
import { withLabelFlow } from './label-flow.ts'
import { SCHEDULE_TOOLS } from './schedule-tools.ts'
import type { ToolEntry, ToolSetting } from './tool-table.ts'
import { TRANSFER_TOOLS } from './transfer-tools.ts'

export const TOOLS: readonly ToolEntry[] = [
  ...AGENT_TOOLS,
  ...SCHEDULE_TOOLS,
  ...INSPECT_TOOLS,
  ...TRANSFER_TOOLS,
  ...GALLERY_TOOLS,
]

const BY_NAME = new Map(TOOLS.map((entry) => [entry.name, entry]))

/** What the text of an answer has: the whole of it, unless the tool says less there. */
export function textOf(name: string, answer: object): string {
  return JSON.stringify(entryOf(name).inText?.(answer) ?? answer)
}

export async function callTool(name: string, args: object, setting: ToolSetting): Promise<object> {
  const input = readArguments<object>(name, args)
  return withLabelFlow(name, input, setting, (labelled) => entryOf(name).run(input, labelled))
}

export function readArguments<Input = unknown>(name: string, args: object): Input {
  return parseInput(entryOf(name).input, args) as Input
}

/** Held to the shape of a tool's input, or an error that says what is wrong. */
export function parseInput<Shape extends z.ZodObject>(shape: Shape, args: object): z.infer<Shape> {
  const input = shape.safeParse(args)
  if (input.success) return input.data
  const [issue] = input.error.issues
  const where = issue?.path.join('.') ?? ''
  throw new AgentError('AGENT_INPUT', `${where === '' ? '' : `\`${where}\`: `}${issue?.message}`)
}

function entryOf(name: string): ToolEntry {
  const entry = BY_NAME.get(name)
  if (entry === undefined) throw new AgentError('AGENT_INPUT', `there is no tool \`${name}\``)
  return entry
}
