// Agents as the console shows them: a row each, and one with its conversation, todos, files, what it
// has used of its budgets and why it stopped. What agents and models say is cut, never judged. Pure.

import type { AgentRow } from '@sluice/agents/journal/rows'
import type { AgentSnapshot } from '@sluice/agents/step-thread/inspect-agent'
import type { HistoryEntry, ListedAgent } from '@sluice/agents/step-thread/operation-results'
import { historyView, truncate } from '@sluice/agents/tools/views'
import { MESSAGE_LENGTH_SHOWN, MESSAGES_SHOWN } from '../queries/limits.ts'

/** What an agent has used. */
export interface AgentFigures {
  readonly turns: number
  readonly tokens: number
  readonly files: number
  /** In the currency of the price; null if the model has none. */
  readonly cost: number | null
}

/** What everybody who may look at agents sees of one. */
export interface AgentView extends AgentFigures {
  readonly id: string
  /** The principal that the agent acts for. */
  readonly owner: string
  readonly model: string
  readonly template: string | null
  /** How many agents are above it: 0 if a client made it, 1 if an agent of a client did. */
  readonly depth: number
  readonly createdAtMs: number
  /** The name that a fork was given; empty if it has none, or if the person may not see it. */
  readonly name: string
  readonly forkOf: AgentOrigin | null
  /** The person may see what the agent says, and act for it. */
  readonly isOwn: boolean
  /** `stopped` if the gate has stopped the agent. */
  readonly state: AgentRow['state'] | 'stopped'
}

/** The agent that another is a fork of, and after which turn. */
export interface AgentOrigin {
  readonly id: string
  readonly turn: number
}

/** A row of `GET /api/agents`. */
export interface ListedAgentView extends AgentView {
  /** The beginning of the first prompt; empty if there is none, or if the person may not see it. */
  readonly task: string
  /** When the agent last did something. */
  readonly lastMs: number
  /** The first agent of the family, if that is another: the one that made it, or that it is a fork of. */
  readonly familyOf: string | null
}

/** A message of the conversation. A model's calls are shown with their results. */
export interface AgentMessage {
  readonly role: Exclude<AgentSnapshot['messages'][number]['role'], 'tool'>
  readonly text: string
  readonly calls: readonly AgentToolCall[]
}

export interface AgentToolCall {
  readonly id: string
  readonly name: string
  /** The arguments, as JSON. */
  readonly input: string
  /** Null while the call has no result. */
  readonly result: string | null
  readonly isError: boolean
}

/** `GET /api/agents/:id`: the agent as it is now, or as it was after a turn. */
export interface AgentPage extends AgentView {
  /** Why the agent stopped; null if it did not. */
  readonly stop: { readonly reason: string; readonly detail: string } | null
  readonly waitingFor: string | null
  /** How many other agents share the budgets with it. */
  readonly relatives: number
  readonly todos: readonly Pick<
    AgentSnapshot['portable']['todos'][number],
    'id' | 'content' | 'status'
  >[]
  readonly fileList: readonly {
    readonly path: string
    readonly bytes: number
    readonly modifiedMs: number
  }[]
  /** The last messages. */
  readonly messages: readonly AgentMessage[]
  /** What the agent and its relatives have used; after a turn of the past, what the agent alone had used. */
  readonly budgets: readonly {
    readonly name: string
    readonly used: number
    /** Null if there is no bound. */
    readonly max: number | null
  }[]
  /** The tools that the agent may call, as `server/tool`. */
  readonly grants: readonly string[]
  /** The turn that is shown; null for now. */
  readonly turn: number | null
}

/** An entry of the agent's journal. */
export interface AgentEvent {
  readonly seq: number
  readonly atMs: number
  readonly kind: string
  readonly turn: number
  /** The other members of the entry, as JSON, cut. */
  readonly says: string
}

type Summary = AgentRow['summary']

/** `isOwn` says whether the person may see what the agent says. */
export function agentView(agent: AgentRow, isOwn: boolean): AgentView {
  const { id, owner, model, template, createdAt, depth, hostStop, state } = agent
  return {
    id,
    owner,
    model,
    template,
    depth,
    createdAtMs: createdAt,
    name: isOwn && typeof agent.asked.name === 'string' ? agent.asked.name : '',
    forkOf: originOf(agent),
    isOwn,
    state: hostStop === null ? state : 'stopped',
    ...figuresOf(agent.summary),
  }
}

/** An import may say anything about its origin: only what has the right form is taken. */
export function originOf({ asked }: AgentRow): AgentOrigin | null {
  const { id, turn } = Object(asked.forkOf) as Readonly<Record<string, unknown>>
  return typeof id === 'string' && typeof turn === 'number' ? { id, turn } : null
}

function figuresOf({ turnCount, usage, fileCount }: Summary): AgentFigures {
  return {
    turns: turnCount,
    tokens: usage.totalTokens,
    files: fileCount,
    cost: usage.costMicros === null ? null : usage.costMicros / 1_000_000,
  }
}

/** `owned`: whether the person may see what an agent of this owner says. */
export function toAgentList(
  agents: readonly ListedAgent[],
  owned: (owner: string) => boolean,
): ListedAgentView[] {
  const first = new Map<number, ListedAgent>()
  const tasks = new Map(agents.map(({ id, task }) => [id, task]))
  for (const agent of agents) {
    const known = first.get(agent.family)
    if (known === undefined || known.key > agent.key) first.set(agent.family, agent)
  }
  return agents.map((agent) => {
    const isOwn = owned(agent.owner)
    const { id } = first.get(agent.family) ?? agent
    const view = agentView(agent, isOwn)
    const task = agent.task ?? tasks.get(view.forkOf?.id ?? '') ?? ''
    return {
      ...view,
      task: isOwn ? task : '',
      lastMs: agent.lastAt,
      familyOf: id === agent.id ? null : id,
    }
  })
}

/** After a turn of the past everything is as it was then. */
export function agentPage(
  { agent, family, portable, messages, files, summary }: AgentSnapshot,
  turn: number | null,
): AgentPage {
  const stop = portable.stop ?? (turn === null ? agent.hostStop : null)
  const { limits } = family
  const { turns, tokens, calls, costMicros } =
    turn === null ? family : toUsage(summary, countGateCalls(messages, agent.grants))
  const view = agentView(agent, true)
  return {
    ...view,
    ...(turn === null ? {} : { ...figuresOf(summary), state: summary.state }),
    stop: stop === null ? null : { reason: stop.reason, detail: stop.detail },
    waitingFor: summary.waitingFor,
    relatives: turn === null ? family.members - 1 : 0,
    todos: portable.todos.map(({ id, content, status }) => ({
      id,
      content: shorten(content),
      status,
    })),
    fileList: files.map(({ path, bytes, modifiedAt }) => ({ path, bytes, modifiedMs: modifiedAt })),
    messages: messagesOf(messages),
    budgets: [
      { name: 'turns', used: turns, max: limits.maxTurns },
      { name: 'tokens', used: tokens, max: limits.maxTokens },
      { name: 'tool calls', used: calls, max: limits.maxToolCalls },
      {
        name: 'cost',
        used: costMicros / 1_000_000,
        max: limits.maxCostMicros === null ? null : limits.maxCostMicros / 1_000_000,
      },
    ],
    grants: agent.grants,
    turn,
  }
}

/** Of the agent alone: what its family had used by then is not known. */
function toUsage({ turnCount, usage }: Summary, calls: number) {
  return {
    turns: turnCount,
    tokens: usage.totalTokens,
    calls,
    costMicros: usage.costMicros ?? 0,
  }
}

/** As its family counts them: calls of the gate, and not of the tools that it has by itself. */
function countGateCalls(messages: AgentSnapshot['messages'], grants: readonly string[]): number {
  const names = new Set(grants.map((grant) => grant.replace('/', '__')))
  return messages
    .flatMap((message) => (message.role === 'assistant' ? message.toolCalls : []))
    .filter(({ name }) => names.has(name)).length
}

/** Calls with their results in one: a model's turn reads as it was. */
function messagesOf(messages: AgentSnapshot['messages']): AgentMessage[] {
  const results = new Map(
    messages.flatMap((message) =>
      message.role === 'tool' ? [[message.callId, message] as const] : [],
    ),
  )
  return messages
    .flatMap((message) => {
      if (message.role === 'tool') return []
      const calls = message.role === 'assistant' ? message.toolCalls : []
      return [
        {
          role: message.role,
          text: shorten(message.content),
          calls: calls.map(({ id, name, input }) => ({
            id,
            name,
            input: shorten(JSON.stringify(input) ?? ''),
            result: results.has(id) ? shorten(results.get(id)?.content ?? '') : null,
            isError: results.get(id)?.isError ?? false,
          })),
        },
      ]
    })
    .slice(-MESSAGES_SHOWN)
}

export function agentEvent(entry: HistoryEntry): AgentEvent {
  const { seq, at: _at, kind, turn, ...details } = historyView(entry)
  return { seq, atMs: entry.at, kind, turn, says: shorten(JSON.stringify(details)) }
}

function shorten(text: string): string {
  return truncate(text, MESSAGE_LENGTH_SHOWN)
}
