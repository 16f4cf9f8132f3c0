// The portable form of an agent: JSON that any version can read, with a digest that finds accidents. `PARTS` is what
// it consists of: every export is written from these parts, and what comes in is checked against them to the last
// field before anything is made of it. Nothing of an import grants anything. Pure; called in the transfer thread.

import { hash } from 'node:crypto'
import { writeCanonicalJson } from '@sluice/policy/values/canonical-json'
import type { JsonValue } from '@sluice/policy/values/json'
import { z } from 'zod'
import type { PortableAgent } from '../guest/protocol.ts'
import { AgentError } from '../shared/errors.ts'
import {
  FILES_BYTES_MAX,
  FILES_MAX,
  IMPORT_DEPTH_MAX,
  IMPORT_ELEMENTS_MAX,
  IMPORT_LABELS_MAX,
  IMPORT_USED_MAX,
  IMPORT_WORK_MAX,
  INSTRUCTIONS_LENGTH_MAX,
  MAX_TURNS_MAX,
  TOOLS_GRANTED_MAX,
} from '../shared/limits.ts'
import { fromClaudeFlow, isClaudeFlowExport } from './claude-flow-export.ts'
import { checkJsonSize } from './measure-json.ts'

const BOUNDS = { elements: IMPORT_ELEMENTS_MAX, depth: IMPORT_DEPTH_MAX }

/** A list that may be long: its length is looked at first, then each element until one is wrong, since a checker
 * keeps an issue for every wrong one. */
function listOf<Each extends z.ZodType>(each: Each, most = Number.POSITIVE_INFINITY) {
  const isList = (value: unknown): value is unknown[] =>
    Array.isArray(value) && value.length <= most
  return z.custom<unknown[]>(isList, `a list of at most ${most}`).transform((list, context) => {
    for (const [at, value] of list.entries()) {
      const [issue] = each.safeParse(value).error?.issues ?? []
      if (issue === undefined) continue
      context.addIssue({ code: 'custom', message: issue.message, path: [at, ...issue.path] })
      break
    }
    return list as z.infer<Each>[]
  })
}

const count = z.int().min(0).max(Number.MAX_SAFE_INTEGER)
const used = z.int().min(0).max(IMPORT_USED_MAX)
const usedCost = z.number().min(0).max(IMPORT_USED_MAX)
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
  inputTokens: used,
  outputTokens: used,
  totalTokens: used,
  costMicros: usedCost.nullable(),
})

const message = z.discriminatedUnion('role', [
  /** The first one, for readers: what counts is the config. */
  z.strictObject({ role: z.literal('system'), content: text }),
  z.strictObject({ role: z.literal('user'), content: text }),
  z.strictObject({
    role: z.literal('assistant'),
    content: text,
    toolCalls: listOf(
      z.strictObject({ id: text.max(128), name: text.max(128), input: z.unknown() }),
      64,
    ),
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

/** What a paused agent has under way. Only its memory knows what to do with the results. */
const work = z.strictObject({
  runs: listOf(
    z.strictObject({
      runId: text.max(64),
      request: text.max(128).nullable(),
      startedAt: z.number(),
    }),
    IMPORT_WORK_MAX,
  ),
  effects: listOf(
    z.looseObject({ id: text.max(64), kind: z.enum(['model', 'compact', 'tool', 'code']) }),
    IMPORT_WORK_MAX,
  ),
})

/** What an export consists of. */
const PARTS = {
  info: z.strictObject({
    id: text.max(64),
    template: text.max(128).nullable(),
    model: text.max(256),
    createdAt: text.max(64),
    /** In exports of versions that wrote one: two exports of an unchanged agent are the same today. */
    exportedAt: text.max(64).optional(),
    image: text.max(64),
    family: text.max(128),
    /** A word for readers; what counts is in `agentState`. */
    state: text.max(32).optional(),
    config: z.record(text, z.unknown()).optional(),
    turnCount: count.optional(),
    fileCount: count.optional(),
    isStopped: z.boolean().optional(),
    /** What its family had seen, by the labels of the policy. */
    labels: listOf(text.max(128), IMPORT_LABELS_MAX).optional(),
  }),
  agentState: z.strictObject({
    config: z.strictObject({
      template: text.max(128).nullable(),
      model: text.max(256),
      instructions: text.max(INSTRUCTIONS_LENGTH_MAX),
      limits,
      tools: listOf(grantedTool, TOOLS_GRANTED_MAX),
      price: z.strictObject({ inputMicros: z.number(), outputMicros: z.number() }).nullable(),
    }),
    messages: listOf(message),
    turn_count: used,
    tool_call_count: used,
    usage,
    /** Whether; in exports of earlier versions also why. */
    stopped: z.union([z.boolean(), stop.nullable()]),
    stop: stop.nullable().optional(),
  }),
  todos: listOf(todo),
  tools: listOf(text),
  files: listOf(file, FILES_MAX),
  secrets: listOf(z.strictObject({ kind: text, where: text, count })),
  work: work.optional(),
}
const HEAD = { format: 'sluice-agent', version: 1 } as const
const shape = z.strictObject({
  format: z.literal(HEAD.format),
  version: z.literal(HEAD.version),
  ...PARTS,
  digest: text,
})

export type AgentExport = z.infer<typeof shape>
export type ExportParts = Omit<AgentExport, 'format' | 'version' | 'digest'>
export type ExportedFile = z.infer<typeof file>

/** An export of these parts, with its digest over everything else. */
export function writeExport(parts: ExportParts): AgentExport {
  const exported = { ...HEAD, ...parts }
  return { ...exported, digest: digestJson(exported) }
}

/** An object that may be an export. Its size is looked at before it is parsed. */
export function parseExport(bytes: Uint8Array): Record<string, unknown> {
  checkJsonSize(bytes, BOUNDS, 'AGENT_IMPORT')
  const parsed = parseExportJson(bytes)
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw new AgentError('AGENT_IMPORT', 'it is not an export: an object is one')
  return parsed as Record<string, unknown>
}

/** An export, whole and undamaged. Its digest is looked at before its shape: what was not made by an export is not
 * worth checking. */
export function checkExport(parsed: Record<string, unknown>): AgentExport {
  const value = isClaudeFlowExport(parsed) ? writeExport(fromClaudeFlow(parsed)) : parsed
  const { digest, ...rest } = value as Record<string, unknown>
  const actual = digestJson(rest)
  if (digest !== actual)
    throw new AgentError(
      'AGENT_IMPORT',
      `the digest is \`${String(digest).slice(0, 100)}\`, but the content is \`${actual}\``,
    )
  const read = shape.safeParse(value)
  if (!read.success) {
    const [issue] = read.error.issues
    const path = issue?.path.join('.') || 'the whole'
    throw new AgentError('AGENT_IMPORT', `it is not an export: ${path}: ${issue?.message}`)
  }
  const system = read.data.agentState.messages.findLastIndex(({ role }) => role === 'system')
  if (system > 0)
    throw new AgentError(
      'AGENT_IMPORT',
      `agentState.messages.${system}: only the first is the system's`,
    )
  return read.data
}

/** What a guest is made from; `tools` are those the new owner has. */
export function toPortable({ agentState, todos }: AgentExport): PortableAgent {
  const { config, turn_count, tool_call_count, usage, stopped, stop: why = null } = agentState
  return {
    config,
    todos,
    messages: agentState.messages.filter((each) => each.role !== 'system'),
    turnCount: turn_count,
    toolCallCount: tool_call_count,
    usage,
    stop: typeof stopped === 'boolean' ? why : stopped,
  }
}

function parseExportJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (error) {
    throw new AgentError('AGENT_IMPORT', 'it is neither JSON nor a bundle', error)
  }
}

/** Digests the canonical form: an export that another program formats differently keeps its digest. */
export function digestJson(value: unknown): string {
  const text = writeCanonicalJson(value as JsonValue)
  return `sha256:${hash('sha256', text)}`
}
