// How one tool call begins: a tool inside is run at once, a tool outside and a program leave as
// effects. A program works on the files alone, so what would change them waits for it. Called by
// the agent for each call of a turn, and for calls a person makes.

import type { CallStart } from './calls.ts'
import type { Files } from './files.ts'
import { findLocalTool, RUN_CODE, runLocalTool } from './local-tools.ts'
import type { UsageMeter } from './meter.ts'
import type { EffectBody } from './outbox.ts'
import type { Config, ToolCall } from './protocol.ts'
import type { Todos } from './todos.ts'
import type { WorkBudget } from './work-budget.ts'

export interface Setting {
  readonly agent: {
    readonly config: Config
    readonly files: Files
    readonly todos: Todos
    readonly meter: UsageMeter
  }
  readonly at: number
  readonly effort: WorkBudget
  /** No earlier call of the turn is open. */
  readonly isAlone: boolean
  /** A program is running. */
  readonly isBusy: boolean
  send(effect: EffectBody): string
}

/** A call that begins is counted. */
export function beginCall(call: ToolCall, setting: Setting): CallStart {
  const { config, meter } = setting.agent
  if (meter.toolCallCount >= (config.limits.maxToolCalls ?? Number.POSITIVE_INFINITY))
    return 'not yet'
  const begun = begin(call, setting)
  if (begun !== 'not yet') meter.toolCallCount += 1
  return begun
}

function begin({ name, input, refused: why }: ToolCall, setting: Setting): CallStart {
  const { agent, at, effort, isAlone, isBusy, send } = setting
  const { config, files, todos } = agent
  if (why !== undefined) return toErrorResult(why)
  if (name === RUN_CODE) {
    if (!isAlone || isBusy) return 'not yet'
    const { code } = (input ?? {}) as { code?: unknown }
    if (typeof code !== 'string' || code === '')
      return toErrorResult('`code` is a text with JavaScript')
    return { effectId: send({ kind: 'code', code }), isProgram: true }
  }
  const local = findLocalTool(name)
  if (local?.run !== undefined) {
    if (isBusy && local.reads !== true) return 'not yet'
    return {
      outcome: runLocalTool(local.run, input, { files, todos, limits: config.limits, at, effort }),
    }
  }
  const granted = config.tools.find((tool) => tool.name === name)
  if (granted === undefined) return toErrorResult(`there is no tool \`${name}\``)
  const { server, tool } = granted
  return { effectId: send({ kind: 'tool', server, tool, input }), isProgram: false }
}

function toErrorResult(message: string): CallStart {
  const content = JSON.stringify({ error: { code: 'AGENT_INPUT', message } })
  return { outcome: { content, isError: true } }
}
