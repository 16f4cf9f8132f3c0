// Arguments and results of the service: how it is started, the caller, a prompt and its
// answer. Types only.

import type { SharedAgents } from '@sluice/ledger/store/postgres/shared-agents'
import type { RunEnd } from '../guest/protocol.ts'
import type { HistorySettings } from '../journal/retention.ts'
import type { AgentRow } from '../journal/rows.ts'
import type { ModelSettings } from '../models/models.ts'
import type { ToolGate } from '../shared/tool-gate.ts'

/** Options of `Service`. @example `const options: ServiceOptions = { directory: '.', models }` */
export interface ServiceOptions {
  readonly directory: string
  readonly models: ModelSettings
  readonly gate?: ToolGate
  /** Runs that a crash cut off go on by themselves, or wait for `resume`. */
  readonly resume?: 'auto' | 'ask'
  /** How much of what agents did is kept; their state always is. */
  readonly history?: HistorySettings
  readonly warn?: (message: string) => void
  /** Agents of several gates, in the store that these share. */
  readonly shared?: SharedAgents | undefined
}

/** Who asks, where that matters. */
export interface AskedBy {
  /** The agent that asks: what it makes joins its family, and it raises no limit. */
  readonly parent?: string | undefined
  /** What a new agent has seen from its beginning. */
  readonly labels?: readonly string[] | undefined
  /** The key of the client's session whose programs a new agent runs. */
  readonly session?: string | undefined
}

export interface PromptArguments {
  readonly input: string
  readonly maxTurns?: number | undefined
  readonly waitMs?: number | undefined
  readonly requestId?: string | undefined
  /** Who wrote the input: a person, another agent (its id), or a model that is no agent of ours. */
  readonly writer?: PromptWriter | undefined
}

export type PromptWriter = { readonly kind: 'person' | 'model' } | { readonly agent: string }

export type PromptAnswer =
  | ({ readonly state: 'ended'; readonly agent: AgentRow } & RunEnd)
  | { readonly state: 'running'; readonly runId: string; readonly agent: AgentRow }

/** All agents of one directory. @example `await Service.start({ directory: './agents', models })` */
