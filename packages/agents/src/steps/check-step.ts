// A guest's answer is data: held to its shape before anything of it is kept or shown. An image from
// elsewhere can say what it likes, and must not be able to break a list that has it in it.

import { z } from 'zod'
import type { StepResult } from '../guest/protocol.ts'
import { AgentError } from '../shared/errors.ts'

const TEXT_LENGTH_MAX = 10_000
const count = z.int().min(0)
const time = z.number().min(0).max(8.64e15)
const text = z.string().max(TEXT_LENGTH_MAX)
const id = z.string().regex(/^[\w.-]{1,64}$/)

const usage = z.object({
  inputTokens: count,
  outputTokens: count,
  totalTokens: count,
  costMicros: z.number().nullable(),
})

const effect = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('model'),
    id,
    epoch: count,
    from: count,
    messages: z.array(z.looseObject({ role: z.enum(['user', 'assistant', 'tool']) })),
  }),
  z.object({ kind: z.literal('compact'), id, epoch: count, until: count }),
  z.object({ kind: z.literal('tool'), id, server: text, tool: text, input: z.unknown() }),
  z.object({ kind: z.literal('code'), id, code: z.string() }),
])

/** Strictly: these are shown without the guest being asked again. */
const changes = z.object({
  todos: z
    .array(
      z.object({
        id,
        content: text,
        status: z.enum(['pending', 'in_progress', 'completed', 'cancelled']),
        createdAt: time,
        updatedAt: time,
      }),
    )
    .max(1_000)
    .nullable(),
  files: z
    .array(
      z.object({
        path: text,
        bytes: count,
        modifiedAt: time,
        revision: count,
        isText: z.boolean(),
      }),
    )
    .max(10_000),
  gone: z.array(text).max(10_000),
})

const shape = z.object({
  effects: z.array(effect).max(1_000),
  dropped: z.array(id).max(10_000),
  ended: z
    .array(
      z.object({
        runId: id,
        response: z.string(),
        turns: count,
        toolCalls: count,
        stop: z.object({ reason: text, detail: text }),
        usage,
      }),
    )
    .max(1_000),
  output: z.object({ content: z.string(), isError: z.boolean() }).nullable(),
  summary: z.object({
    state: z.enum(['idle', 'running', 'waiting', 'stopped']),
    turnCount: count,
    toolCallCount: count,
    fileCount: count,
    fileBytes: count,
    todos: z.object({
      pending: count,
      in_progress: count,
      completed: count,
      cancelled: count,
    }),
    usage,
    stop: z.object({ reason: text, detail: text, at: time }).nullable(),
    waitingFor: text.nullable(),
    wakeAt: time.nullable(),
    runId: id.nullable(),
    queued: count,
  }),
  changes: changes.nullable().optional(),
})

export function checkStep(value: unknown): StepResult {
  const read = shape.safeParse(value)
  if (read.success) return value as StepResult
  const [issue] = read.error.issues
  const where = issue?.path.join('.') ?? ''
  throw new AgentError('AGENT_FAULT', `the guest's answer is not one: ${where}: ${issue?.message}`)
}
