// A run: one prompt from its start to its end, and where in it the agent is: waiting for a model,
// for a summary of what was said, or for the results of calls.

import type { TurnCalls } from './calls.ts'
import type { TokenUsage } from './protocol.ts'

export const RUN_LIMITS = { queue: 32, reminders: 3, compactAttempts: 2 }

export interface Prompt {
  readonly runId: string
  readonly input: string
  readonly maxTurns: number | null
}

export interface AgentRun extends Prompt {
  startedAt: number
  turns: number
  toolCalls: number
  reminders: number
  usage: TokenUsage
}

export type Phase =
  | { readonly kind: 'model'; readonly effectId: string }
  | { readonly kind: 'compact'; readonly effectId: string; readonly until: number }
  | { readonly kind: 'calls'; readonly calls: TurnCalls }

export function startRun(prompt: Prompt, startedAt: number, usage: TokenUsage): AgentRun {
  return { ...prompt, startedAt, turns: 0, toolCalls: 0, reminders: 0, usage }
}
