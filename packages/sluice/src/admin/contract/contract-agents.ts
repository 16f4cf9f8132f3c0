// What the console asks of the gate about agents. Types only. Texts of agents, models and servers in here
// are untrusted; the console shows them as text.

import type { CallRecord } from './contract-console.ts'

export interface AgentView {
  readonly id: string
  /** Given to a fork; empty if it has none. */
  readonly name: string
  readonly forkOf: { readonly id: string; readonly turn: number } | null
  readonly owner: string
  readonly state: string
  readonly model: string
  readonly template: string | null
  readonly turns: number
  readonly tokens: number
  readonly files: number
  readonly createdAtMs: number
  readonly depth: number
  /** In the currency of the price; null if the model has none. */
  readonly cost: number | null
  /** The person who is signed in may see what it says, and act for it. */
  readonly isOwn: boolean
}

export interface ListedAgentView extends AgentView {
  /** The beginning of its first prompt; empty if there is none, or it may not be shown to the person who is signed in. */
  readonly task: string
  readonly lastMs: number
  /** The first agent of its family, if that is another: the one that made it, or that it is a fork of. */
  readonly familyOf: string | null
}

export interface AgentTodo {
  readonly id: string
  readonly content: string
  readonly status: 'pending' | 'in_progress' | 'completed' | 'cancelled'
}

export interface AgentMessage {
  readonly role: string
  readonly text: string
  readonly calls: readonly {
    readonly id: string
    readonly name: string
    readonly input: string
    readonly result: string | null
    readonly isError: boolean
  }[]
}

export interface AgentPage extends AgentView {
  readonly stop: { readonly reason: string; readonly detail: string } | null
  readonly waitingFor: string | null
  readonly todos: readonly AgentTodo[]
  readonly fileList: readonly {
    readonly path: string
    readonly bytes: number
    readonly modifiedMs: number
  }[]
  readonly messages: readonly AgentMessage[]
  readonly budgets: readonly {
    readonly name: string
    readonly used: number
    readonly max: number | null
  }[]
  /** Agents that share the budgets with it. */
  readonly relatives: number
  readonly grants: readonly string[]
  /** The turn that is shown; null for now. */
  readonly turn: number | null
}

/** `GET /api/agents/:id/turns`: what the journal and the ledger say of its turns, the newest last. */
export interface AgentTurns {
  readonly turns: readonly AgentTurn[]
  /** Why the last run ended without an answer: the model could not be asked. */
  readonly failure: { readonly atMs: number; readonly message: string } | null
  /** Records of the ledger that are not searched yet. */
  readonly behind: number
}

export interface AgentTurn {
  readonly turn: number
  /** When the model had answered, and how long that took. */
  readonly atMs: number
  readonly modelMs: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cost: number | null
  readonly calls: readonly {
    readonly id: string
    /** Of the ledger, the oldest first: a call that was held has more than one. */
    readonly records: readonly CallRecord[]
  }[]
}

/** Events of `GET /api/agents/:id/watch`: `text` is what the model says as it comes, `step` that
 * something has happened. */
export interface AgentStep {
  readonly kind: string
  readonly turn: number
}

export interface AgentEvent {
  readonly seq: number
  readonly atMs: number
  readonly kind: string
  readonly turn: number
  readonly says: string
}
