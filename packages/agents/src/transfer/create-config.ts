// From the arguments of create to the config an agent lives by: defaults filled in, bounds held,
// tools cut to what the owner may see. Anything wrong is an error before anything is made.

import { z } from 'zod'
import type { Config, GrantedTool, Limits, Price } from '../guest/protocol.ts'
import type { AgentRow } from '../journal/rows.ts'
import { AgentError } from '../shared/errors.ts'
import {
  CONTEXT_TOKENS_DEFAULT,
  FILE_BYTES_MAX,
  FILES_BYTES_MAX,
  FILES_MAX,
  INSTRUCTIONS_LENGTH_MAX,
  MAX_TURNS_DEFAULT,
  MAX_TURNS_MAX,
  NO_PROGRESS_DEFAULT,
  PROGRAM_TIMEOUT_MS,
  PROGRAM_TIMEOUT_MS_MAX,
  PROGRAM_TIMEOUT_MS_MIN,
  PROGRAM_TOOL_CALLS_MAX,
  PROGRAM_TOOL_CALLS_TOP,
  TOOLS_GRANTED_MAX,
} from '../shared/limits.ts'
import type { GateTool } from '../shared/tool-gate.ts'
import type { LooseFile } from './pack-files.ts'

export const DEFAULT_MODEL = 'anthropic:claude-sonnet-4-6'

const positive = z.int().min(1)

/** The same check, listed as a plain string: the regular expressions of zod's formats cost a model tokens in every
 * list and tell it nothing. */
function withoutPattern(format: z.ZodType<string>) {
  return z.string().superRefine((text, context) => {
    const message = format.safeParse(text).error?.issues[0]?.message
    if (message !== undefined) context.addIssue({ code: 'custom', message })
  })
}

export const limitsShape = z.strictObject({
  maxTurns: positive.max(MAX_TURNS_MAX).optional().describe('answered model calls in its life'),
  maxTokens: positive.nullable().optional().describe('tokens in its life; null for no limit'),
  maxCost: z
    .number()
    .positive()
    .nullable()
    .optional()
    .describe('cost in its life; needs a price for the model'),
  maxToolCalls: positive.nullable().optional().describe('tool calls in its life'),
  runMs: positive.nullable().optional().describe('how long one run may take, in milliseconds'),
  expiresAt: withoutPattern(z.iso.datetime({ offset: true }))
    .nullable()
    .optional()
    .describe('when it stops for good, ISO 8601 with an offset'),
  noProgress: z
    .int()
    .min(2)
    .nullable()
    .optional()
    .describe('stops after so many turns with the same calls and results'),
  finishTodos: z.boolean().optional().describe('goes on while todos are open'),
  contextTokens: positive
    .optional()
    .describe('beyond so many tokens the conversation is summed up'),
  fileBytes: positive.max(FILES_BYTES_MAX).optional().describe('bytes of one file'),
  totalBytes: positive.max(FILES_BYTES_MAX).optional().describe('bytes of all files'),
  files: positive.max(FILES_MAX).optional().describe('number of files'),
})

/** The settings of `run_code`: kept by the host, which enforces them. */
const codeShape = z.strictObject({
  timeoutMs: z
    .int()
    .min(PROGRAM_TIMEOUT_MS_MIN)
    .max(PROGRAM_TIMEOUT_MS_MAX)
    .optional()
    .describe(`processor time of one program, ${PROGRAM_TIMEOUT_MS} ms without it`),
  toolCalls: z
    .int()
    .min(0)
    .max(PROGRAM_TOOL_CALLS_TOP)
    .optional()
    .describe(`tool calls of one program, ${PROGRAM_TOOL_CALLS_MAX} without it`),
})

const fileShape = z.union([
  z.string().describe('text'),
  z.strictObject({ base64: withoutPattern(z.base64()).describe('bytes in base64') }),
])

export const createShape = z.strictObject({
  template: z
    .string()
    .max(128)
    .optional()
    .describe('coder, researcher, tester, reviewer, security, swarm, or one of yours'),
  model: z.string().max(256).optional().describe(`provider:model; ${DEFAULT_MODEL} without it`),
  instructions: z
    .string()
    .max(INSTRUCTIONS_LENGTH_MAX)
    .optional()
    .describe('what the agent is told before everything else'),
  maxTurns: positive
    .max(MAX_TURNS_MAX)
    .optional()
    .describe(`answered model calls in its life, ${MAX_TURNS_DEFAULT} without it`),
  limits: limitsShape.optional().describe('when it stops'),
  code: codeShape.optional().describe('limits of run_code'),
  sees: z
    .enum(['family', 'owner'])
    .optional()
    .describe('with tools of agents: its family (default), or all agents of its owner'),
  tools: z
    .array(z.string().max(256))
    .max(TOOLS_GRANTED_MAX)
    .optional()
    .describe('tools of servers to give it: `server/tool`, `server/*`'),
  files: z.record(z.string(), fileShape).optional().describe('files to begin with, by path'),
  seed: z.string().max(256).optional().describe('of its random numbers; drawn without it'),
  rvfBase64: withoutPattern(z.base64())
    .optional()
    .describe('an RVF container to take instructions from'),
})

/** What of `run_code` is bounded for an agent, as it was given at create. */
export function codeLimitsOf({ asked }: Pick<AgentRow, 'asked'>): {
  timeoutMs: number
  toolCalls: number
} {
  const { data } = codeShape.safeParse(asked.code ?? {})
  const { timeoutMs = PROGRAM_TIMEOUT_MS, toolCalls = PROGRAM_TOOL_CALLS_MAX } = data ?? {}
  return { timeoutMs, toolCalls }
}

export type CreateArguments = z.infer<typeof createShape>
export type LimitArguments = z.infer<typeof limitsShape>

/** Only what was given, in the words of the guest. */
export function toLimits(input: LimitArguments): Partial<Limits> {
  const { maxCost, expiresAt, fileBytes, totalBytes, files, ...same } = input
  const limits: { [Name in keyof Limits]: Limits[Name] | undefined } = {
    ...(same as Pick<Limits, keyof typeof same>),
    maxCostMicros: maxCost && maxCost * 1_000_000,
    expiresAt: typeof expiresAt === 'string' ? Date.parse(expiresAt) : expiresAt,
    fileBytesMax: fileBytes,
    totalBytesMax: totalBytes,
    filesMax: files,
  }
  const given = Object.entries(limits).filter(([, value]) => value !== undefined)
  return Object.fromEntries(given)
}

/** The model is settled before: its price belongs to it, also if it is the default one. */
export function toConfig(
  input: CreateArguments & { readonly model: string },
  tools: readonly GrantedTool[],
  price: Price | null,
): Config {
  const limits: Limits = {
    maxTurns: MAX_TURNS_DEFAULT,
    maxTokens: null,
    maxCostMicros: null,
    maxToolCalls: null,
    runMs: null,
    expiresAt: null,
    noProgress: NO_PROGRESS_DEFAULT,
    finishTodos: false,
    contextTokens: CONTEXT_TOKENS_DEFAULT,
    fileBytesMax: FILE_BYTES_MAX,
    totalBytesMax: FILES_BYTES_MAX,
    filesMax: FILES_MAX,
    ...toLimits(input.limits ?? {}),
    ...(input.maxTurns === undefined ? {} : { maxTurns: input.maxTurns }),
  }
  const { model } = input
  checkPrice(limits, price, model)
  return {
    template: input.template ?? null,
    model,
    instructions: input.instructions ?? '',
    limits,
    tools,
    price,
  }
}

/** A limit that could never hold would fail open. */
export function checkPrice(limits: Partial<Limits>, price: Price | null, model: string): void {
  if (limits.maxCostMicros === null || limits.maxCostMicros === undefined || price !== null) return
  throw new AgentError(
    'MODEL_PRICE_MISSING',
    `a limit on cost needs a price for \`${model}\`: configure one (\`agents.prices\` of sluice.yaml, or --price), or limit tokens`,
  )
}

/** From inside, nothing of what bounds the family is raised, and who was stopped stays so. */
export function checkResumeFromInside(
  { id, summary, hostStop, pausedAt }: AgentRow,
  limits: Partial<Limits>,
  family: Limits,
): void {
  const why = hostStop?.reason ?? summary.stop?.reason
  if (why === 'stopped' || pausedAt !== null) {
    const how = why === 'stopped' ? 'stopped' : 'paused'
    throw new AgentError('AGENT_STOPPED', `\`${id}\` was ${how}: only its owner resumes it`)
  }
  for (const [name, value] of Object.entries(limits)) {
    const most = family[name as keyof Limits]
    if (typeof most !== 'number') continue
    if (value === null || (value as number) > most)
      throw new AgentError(
        'AGENT_LIMIT',
        `an agent does not raise limits: \`${name}\` of its family is ${most}, ${value} was asked for; its owner may`,
      )
  }
}

export function toFiles(files: CreateArguments['files']): LooseFile[] {
  return Object.entries(files ?? {}).map(([path, content]) => ({
    path,
    content:
      typeof content === 'string' ? content : new Uint8Array(Buffer.from(content.base64, 'base64')),
  }))
}

/** `filesystem/*`, `github/create_issue`; a pattern that gives nothing is an error, not a silence. */
export function grantTools(
  patterns: readonly string[],
  available: readonly GateTool[],
): GrantedTool[] {
  const granted = new Map<string, GrantedTool>()
  for (const pattern of patterns) {
    const [, server = '', tool = ''] = /^([^/*]+)\/(.+)$/.exec(pattern) ?? []
    const matches = available.filter(
      (each) => each.server === server && (tool === '*' || each.name === tool),
    )
    if (matches.length === 0)
      throw new AgentError(
        'TOOL_UNKNOWN',
        available.length === 0
          ? `\`${pattern}\` gives no tool: there are none here; agents reach tools through a gate with \`builtin: agents\` in its sluice.yaml`
          : `\`${pattern}\` gives no tool: write \`<server>/<tool>\` or \`<server>/*\` of tools you may see`,
      )
    for (const each of matches) {
      const tool = toGranted(each)
      const other = granted.get(tool.name)
      if (other !== undefined && other.tool !== tool.tool)
        throw new AgentError(
          'AGENT_INPUT',
          `a model would know \`${server}/${other.tool}\` and \`${server}/${tool.tool}\` by one name, \`${tool.name}\`: give the agent one of them`,
        )
      granted.set(tool.name, tool)
    }
  }
  if (granted.size > TOOLS_GRANTED_MAX)
    throw new AgentError('AGENT_LIMIT', `an agent has at most ${TOOLS_GRANTED_MAX} tools`)
  return [...granted.values()]
}

export function toGranted({ server, name, description, inputSchema }: GateTool): GrantedTool {
  return { name: modelName(server, name), server, tool: name, description, inputSchema }
}

/** Names a tool as models take names: 64 letters, digits, `_` and `-`. */
function modelName(server: string, tool: string): string {
  return `${server}__${tool}`.replace(/[^\w-]/g, '_').slice(0, 64)
}
