// An agent as Claude Flow's `wasm_agent_export` writes it, in the form of an export of ours: messages,
// todos, turns and its prompts. It holds no files, and grants nothing. Pure.

import { isObject, type JsonObject } from '@sluice/policy/values/json'
import { DEFAULT_MODEL, toConfig } from './create-config.ts'
import type { AgentExport, ExportParts } from './portable.ts'

/** It names no format and has no digest. */
export function isClaudeFlowExport(value: object): value is JsonObject {
  const { format, digest, agentState, info } = value as JsonObject
  return format === undefined && digest === undefined && isObject(agentState) && isObject(info)
}

/** What does not fit is found by the check of the shape that follows. */
export function fromClaudeFlow(value: JsonObject): ExportParts {
  const state = value.agentState as JsonObject
  const info = value.info as JsonObject
  const config = isObject(info.config) ? info.config : {}
  const messages = (Array.isArray(state.messages) ? state.messages : []) as JsonObject[]
  const [first] = messages
  const instructions =
    isObject(first) && first.role === 'system' ? first.content : config.instructions
  const model = typeof info.model === 'string' ? info.model : DEFAULT_MODEL
  const createdMs = Date.parse(String(info.createdAt))
  const at = Number.isFinite(createdMs) ? createdMs : 0
  const { maxTurns } = config
  const settings = {
    model,
    instructions: typeof instructions === 'string' ? instructions : '',
    ...(typeof maxTurns === 'number' ? { maxTurns } : {}),
  }
  const todos = Array.isArray(value.todos) ? (value.todos as JsonObject[]) : []
  return {
    info: {
      id: String(info.id).slice(0, 64),
      template: null,
      model,
      createdAt: new Date(at).toISOString(),
      image: '',
      family: '',
    },
    agentState: {
      config: { ...toConfig(settings, [], null), tools: [] },
      messages: messages.map((each) =>
        isObject(each) && each.role === 'assistant' ? { toolCalls: [], ...each } : each,
      ) as AgentExport['agentState']['messages'],
      turn_count: (state.turn_count ?? 0) as number,
      tool_call_count: 0,
      usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0, costMicros: null },
      stopped: false,
      stop: null,
    },
    todos: todos.map((each, index) => ({
      id: `t${index + 1}`,
      createdAt: at,
      updatedAt: at,
      ...each,
    })) as AgentExport['todos'],
    tools: (Array.isArray(value.tools) ? value.tools : []) as string[],
    files: [],
    secrets: [],
  }
}
