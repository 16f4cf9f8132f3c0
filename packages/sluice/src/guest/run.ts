// A run: one prompt from its start to its end, and where in it the agent is: waiting for a model,
// for a summary of what was said, or for the results of calls. Types only.

import type { Calls } from './calls.ts'
import type { Usage } from './protocol.ts'

export interface Prompt {
  readonly runId: string
  readonly input: string
  readonly maxTurns: number | null
}

export interface Run extends Prompt {
  readonly startedAt: number
  turns: number
  toolCalls: number
  reminders: number
  usage: Usage
}

export type Phase =
  | { readonly kind: 'model'; readonly effectId: string }
  | { readonly kind: 'compact'; readonly effectId: string; readonly until: number }
  | { readonly kind: 'calls'; readonly calls: Calls }
