// The portable form of an agent: JSON that any version can read, with a digest that finds accidents.
// `shape` holds what comes in to the last field before anything is made of it; nothing of an import
// grants anything. Pure; called in the step thread.

import { z } from 'zod'
import type { Portable } from '../../guest/words.ts'
import { AgentError } from '../errors.ts'
import {
  FILES_BYTES_MAX,
  FILES_MAX,
  INSTRUCTIONS_LENGTH_MAX,
  MAX_TURNS_MAX,
  TOOLS_GRANTED_MAX,
} from '../limits.ts'
import { digestOf } from './canonical.ts'

export const FORMAT = 'sluice-agent'
export const VERSION = 1

const count = z.int().min(0).max(Number.MAX_SAFE_INTEGER)
const time = z.number().min(0).max(8.64e15)
const text = z.string()

const limits = z.strictObject({
  maxTurns: z.int().min(1).max(MAX_TURNS_MAX),
  maxTokens: count.nullable(),
  maxCostMicros: z.number().min(0).nullable(),
  maxToolCalls: count.nullable(),
  runMs: count.nullable(),
  expiresAt: time.nullable(),
  noProgress: z.int().min(2).nullable(),
  finishTodos: z.boolean(),
  contextTokens: count,
  fileBytesMax: count.max(FILES_BYTES_MAX),
  totalBytesMax: count.max(FILES_BYTES_MAX),
  filesMax: count.max(FILES_MAX),
})

const grantedTool = z.strictObject({
  name: text.max(128),
  server: text.max(128),
  tool: text.max(256),
  description: text,
  inputSchema: z.unknown(),
})

const usage = z.strictObject({
  inputTokens: count,
  outputTokens: count,
  totalTokens: count,
  costMicros: z.number().min(0).nullable(),
})

const message = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('user'), content: text }),
  z.strictObject({
    role: z.literal('assistant'),
    content: text,
    toolCalls: z
      .array(z.strictObject({ id: text.max(128), name: text.max(128), input: z.unknown() }))
      .max(64),
  }),
  z.strictObject({
    role: z.literal('tool'),
    callId: text.max(128),
    name: text.max(128),
    content: text,
    isError: z.boolean(),
  }),
])

const todo = z.strictObject({
  id: text.max(64),
  content: text,
  status: z.enum(['pending', 'in_progress', 'completed', 'cancelled']),
  createdAt: time,
  updatedAt: time,
})

const stop = z.strictObject({
  reason: z.enum([
    'max_turns',
    'max_tokens',
    'max_cost',
    'max_tool_calls',
    'run_time',
    'expired',
    'no_progress',
    'stopped',
    'host_limit',
  ]),
  detail: text,
  at: time,
})

const file = z.union([
  z.strictObject({ path: text, modifiedAt: time, text }),
  z.strictObject({ path: text, modifiedAt: time, base64: z.base64() }),
])

const shape = z.strictObject({
  format: z.literal(FORMAT),
  version: z.literal(VERSION),
  info: z.strictObject({
    id: text.max(64),
    template: text.max(128).nullable(),
    model: text.max(256),
    createdAt: text.max(64),
    exportedAt: text.max(64),
    image: text.max(64),
    family: text.max(128),
  }),
  agentState: z.strictObject({
    config: z.strictObject({
      template: text.max(128).nullable(),
      model: text.max(256),
      instructions: text.max(INSTRUCTIONS_LENGTH_MAX),
      limits,
      tools: z.array(grantedTool).max(TOOLS_GRANTED_MAX),
      price: z.strictObject({ inputMicros: z.number(), outputMicros: z.number() }).nullable(),
    }),
    messages: z.array(message),
    turn_count: count,
    tool_call_count: count,
    usage,
    stopped: stop.nullable(),
  }),
  todos: z.array(todo),
  tools: z.array(text),
  files: z.array(file).max(FILES_MAX),
  secrets: z.array(z.strictObject({ kind: text, where: text, count })),
  digest: text,
})

export type Exported = z.infer<typeof shape>
export type ExportedFile = z.infer<typeof file>

/** The export with its digest over everything else. */
export function seal(exported: Omit<Exported, 'digest'>): Exported {
  return { ...exported, digest: digestOf(exported) }
}

/** An object or a text that is an export, whole and undamaged. */
export function readExport(given: unknown): Exported {
  const value = typeof given === 'string' ? parse(given) : given
  const read = shape.safeParse(value)
  if (!read.success) {
    const [issue] = read.error.issues
    const where = issue?.path.join('.') || 'the whole'
    throw new AgentError('AGENT_IMPORT', `it is not an export: ${where}: ${issue?.message}`)
  }
  const { digest, ...rest } = read.data
  const found = digestOf(rest)
  if (digest !== found)
    throw new AgentError(
      'AGENT_IMPORT',
      `the digest is \`${digest}\`, but the content is \`${found}\``,
    )
  return read.data
}

/** What a guest is made from; `tools` are those the new owner has. */
export function toPortable({ agentState, todos }: Exported): Portable {
  const { config, messages, turn_count, tool_call_count, usage, stopped } = agentState
  return {
    config,
    todos,
    messages,
    turnCount: turn_count,
    toolCallCount: tool_call_count,
    usage,
    stop: stopped,
  }
}

function parse(given: string): unknown {
  try {
    return JSON.parse(given)
  } catch (error) {
    throw new AgentError('AGENT_IMPORT', 'it is neither JSON nor a bundle', error)
  }
}
