// The tools of the agents' MCP server as data: names, arguments, answers and class, one entry each.
// What each does is in agent-tools.ts and gallery-tools.ts; server.ts registers them all alike.

import type { SessionLabels } from '@sluice/protocol/agent-calls'
import { z } from 'zod'
import type { ProgressListener } from '../runs/run-watch.ts'
import type { Service } from '../service/service.ts'
import type { Gallery } from './gallery.ts'

export interface ToolSetting {
  readonly service: Service
  readonly gallery: Gallery
  readonly owner: string
  /** The agent that calls, where it is one. */
  readonly parent: string | undefined
  /** What the caller's session has seen; absent outside of a gate, if nothing is labelled. */
  readonly labels?: SessionLabels | undefined
  /** What an agent that the call makes has seen from its beginning. */
  readonly madeLabels?: readonly string[]
  readonly signal: AbortSignal
  readonly onProgress: ProgressListener | undefined
}

export type ToolCategory = 'Read' | 'Write' | 'Execute' | 'Destructive'

export interface ToolEntry {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly category: ToolCategory
  readonly input: z.ZodObject
  readonly output: z.ZodObject
  /** `input` has been checked against the shape. */
  readonly run: (input: unknown, setting: ToolSetting) => Promise<object>
  /** What the text of the answer has, if it is less than the structured content. */
  readonly inText?: (answer: unknown) => object
}

interface TypedTool<Input extends z.ZodObject, Output extends z.ZodObject>
  extends Omit<ToolEntry, 'run' | 'inText'> {
  readonly input: Input
  readonly output: Output
  readonly run: (input: z.infer<Input>, setting: ToolSetting) => Promise<z.input<Output>>
  readonly inText?: (answer: z.input<Output>) => object
}

/** Keeps the type of the arguments between schema and function. */
export function tool<Input extends z.ZodObject, Output extends z.ZodObject>(
  entry: TypedTool<Input, Output>,
): ToolEntry {
  const { run, inText, ...described } = entry
  return {
    ...described,
    run: (input, setting) => run(input as z.infer<Input>, setting),
    ...(inText && { inText: (answer: unknown) => inText(answer as z.input<Output>) }),
  }
}

export const text = z.string()
/** A figure of an answer. Without bounds: in every definition they would cost a model tokens and say nothing. */
export const count = z.number()
/** An argument that is a place in a list, or a turn. */
export const index = z.int().min(0)
export const agentId = z.string().min(1).max(64).describe('the id that wasm_agent_create gave')
export const success = z.boolean()

export const stateShape = z.enum(['idle', 'running', 'waiting', 'paused', 'stopped'])

/** Answers hold these and nothing else; the pins in the tests say the same. */
export const agentShape = z.strictObject({
  id: text,
  state: text,
  config: z.record(text, z.unknown()),
  model: text,
  turnCount: count,
  fileCount: count,
  isStopped: z.boolean(),
  createdAt: text,
})

export const usageShape = z.strictObject({
  inputTokens: count,
  outputTokens: count,
  totalTokens: count,
  cost: z.number().optional(),
})

export const promptShape = z.strictObject({
  response: text.optional(),
  turns: count.optional(),
  toolCalls: count.optional(),
  stop: z.strictObject({ reason: text, detail: text }).optional(),
  usage: usageShape.optional(),
  state: text.optional(),
  runId: text.optional(),
  turnCount: count.optional(),
  waitingFor: text.nullable().optional(),
  output: z.unknown().optional(),
  outputFault: text.optional(),
  model: text,
})

export const templateView = z.strictObject({
  id: text,
  name: text,
  description: text,
  category: text,
  version: text,
  author: text,
  tags: z.array(text),
  builtin: z.boolean(),
})
