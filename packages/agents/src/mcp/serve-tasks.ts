// A prompt as a task, for clients of both protocol generations: in sessions (2025-11-25) the client asks for one and
// fetches its result; in 2026-07-28 a client says with each request that it can take a task, and gets
// the result with its state. Neither is in the SDK's server; what is asked is answered here, from the
// journal. Called by server.ts.

import {
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { PromptAnswer } from '../service/service-types.ts'
import { AgentError } from '../shared/errors.ts'
import type { RunTask, RunTasks } from './run-tasks.ts'

const EXTENSION = 'io.modelcontextprotocol/tasks'
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'
const RELATED = 'io.modelcontextprotocol/related-task'
/** What requests about a task carry. */
const ONE_TASK = { params: z.looseObject({ taskId: z.string().max(256) }) }

/** A run that ended, as the tool would have answered it. */
type AnswerOf = (ended: PromptAnswer) => Record<string, unknown>

export function serveTasks({ server }: McpServer, tasks: RunTasks, answerOf: AnswerOf): void {
  server.registerCapabilities({
    tasks: { cancel: {}, requests: { tools: { call: {} } } },
    extensions: { [EXTENSION]: {} },
  })
  server.setRequestHandler('tasks/get', ONE_TASK, ({ taskId }, context) =>
    asProtocol(async () => {
      const task = await tasks.get(taskId)
      if (!isStateless(context)) return { ...task }
      return { ...toStateless(task), ...(await endOf(tasks, task, answerOf)) }
    }),
  )
  server.setRequestHandler('tasks/cancel', ONE_TASK, ({ taskId }, context) =>
    asProtocol(async () => {
      if (!isStateless(context)) return { ...(await tasks.cancel(taskId)) }
      // There it is a wish, and one that comes too late is heard all the same.
      if ((await tasks.get(taskId)).status === 'working') await tasks.cancel(taskId)
      return {}
    }),
  )
  server.setRequestHandler('tasks/result', ONE_TASK, ({ taskId }) =>
    asProtocol(async () => {
      const ended = answerOf(await tasks.result(taskId))
      return { ...ended, _meta: { [RELATED]: { taskId } } }
    }),
  )
  // A run never asks its client for anything.
  server.setRequestHandler('tasks/update', ONE_TASK, ({ taskId }) =>
    asProtocol(async () => {
      await tasks.get(taskId)
      return {}
    }),
  )
}

/** The client of 2026-07-28 has said that it can take one. */
export function takesTasks({ mcpReq }: ServerContext): boolean {
  const capabilities = (mcpReq.envelope as Record<string, unknown> | undefined)?.[CAPABILITIES]
  const { extensions } = (capabilities ?? {}) as { extensions?: Record<string, unknown> }
  return extensions !== undefined && Object.hasOwn(extensions, EXTENSION)
}

/** The answer to a call that became one. */
export function asHandle(task: RunTask): Record<string, unknown> {
  return { resultType: 'task', ...toStateless(task) }
}

function isStateless({ mcpReq }: ServerContext): boolean {
  return mcpReq.envelope !== undefined
}

function toStateless({ ttl, pollInterval, ...task }: RunTask): Record<string, unknown> {
  return { ...task, ttlMs: ttl, pollIntervalMs: pollInterval }
}

async function endOf(tasks: RunTasks, task: RunTask, answerOf: AnswerOf): Promise<object> {
  const { taskId, status } = task
  if (status === 'completed')
    return { result: { resultType: 'complete', ...answerOf(await tasks.result(taskId)) } }
  if (status !== 'failed') return {}
  const ended = await tasks.result(taskId)
  const message = ended.state === 'ended' ? ended.stop.detail : 'the run failed'
  return { error: { code: ProtocolErrorCode.InternalError, message } }
}

/** A refusal as an error of the protocol, for methods that have no tool result. */
export async function asProtocol<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof AgentError)) throw error
    const { code, message } = error
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `${message} (${code})`)
  }
}
