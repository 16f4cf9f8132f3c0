// Arguments and results of the service: how it is started, the caller, a prompt and its
// answer. Types only.

import type { SharedAgents } from '@sluice/ledger/store/postgres/shared-agents'
import type { RunEnd } from '../guest/protocol.ts'
import type { HistorySettings } from '../journal/retention.ts'
import type { AgentRow, FamilyRow } from '../journal/rows.ts'
import type { PlanArguments } from '../journal/schedule-plan.ts'
import type { ModelSettings } from '../models/models.ts'
import type { PromptWriter } from '../shared/prompt-writer.ts'
import type { ToolGate } from '../shared/tool-gate.ts'
import type { ScheduleStatus } from '../step-thread/operation-results.ts'

/** Options of `Service`. @example `const options: ServiceOptions = { directory: '.', models }` */
export interface ServiceOptions {
  readonly directory: string
  readonly models: ModelSettings
  readonly gate?: ToolGate
  /** What the gate calls the server of these agents: schedules prompt by it. */
  readonly server?: string | undefined
  /** Where webhooks reach the gate, without a slash at the end; undefined if that is not known. */
  readonly publicUrl?: string | undefined
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
  /** What the agent reads behind the input. Not the writer's words: the gate is not told of it. */
  readonly form?: string | undefined
  readonly maxTurns?: number | undefined
  readonly waitMs?: number | undefined
  readonly requestId?: string | undefined
  readonly writer?: PromptWriter | undefined
}

/** When an agent is to be prompted, and with what. */
export interface ScheduleArguments extends PlanArguments {
  readonly name: string
  readonly input: string
}

export interface MadeSchedule {
  readonly status: ScheduleStatus
  /** The secret of a webhook; nobody is told it again. */
  readonly secret: Buffer | undefined
  readonly publicUrl: string | undefined
  /** How far the limits of the agent and its family reach. */
  readonly agent: AgentRow
  readonly family: FamilyRow
}

export type PromptAnswer =
  | ({ readonly state: 'ended'; readonly agent: AgentRow } & RunEnd)
  | { readonly state: 'running'; readonly runId: string; readonly agent: AgentRow }

/** All agents of one directory. @example `await Service.start({ directory: './agents', models })` */
