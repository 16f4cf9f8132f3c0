// Agents as the console shows them: a row each, and one with its conversation, todos, files, what it
// has used of its budgets and why it stopped. What agents and models say is cut, never judged. Pure.

import type { AgentRow } from '@sluice/agents/journal/rows'
import type { AgentSnapshot } from '@sluice/agents/step-thread/inspect-agent'
import type { HistoryEntry, ListedAgent } from '@sluice/agents/step-thread/operation-results'
import { historyView, truncate } from '@sluice/agents/tools/views'
import { MESSAGE_LENGTH_SHOWN, MESSAGES_SHOWN } from '../queries/limits.ts'

export type ListedAgentView = ReturnType<typeof toAgentList>[number]
export type AgentPage = ReturnType<typeof agentPage>
export type AgentMessage = AgentPage['messages'][number]
export type AgentEvent = ReturnType<typeof agentEvent>

type Summary = AgentRow['summary']

/** `isOwn`: the person may see what it says, and act for it. */
export function agentView(agent: AgentRow, isOwn: boolean) {
  const { id, owner, model, template, createdAt, depth, hostStop, state } = agent
  return {
    id,
    owner,
    model,
    template,
    depth,
    createdAtMs: createdAt,
    // Given to a fork; empty if it has none.
    name: isOwn && typeof agent.asked.name === 'string' ? agent.asked.name : '',
    forkOf: originOf(agent),
    isOwn,
    state: hostStop === null ? state : 'stopped',
    ...figuresOf(agent.summary),
  }
}

/** What it is a fork of. An import may say anything there. */
export function originOf({ asked }: AgentRow): { id: string; turn: number } | null {
  const { id, turn } = Object(asked.forkOf) as Readonly<Record<string, unknown>>
  return typeof id === 'string' && typeof turn === 'number' ? { id, turn } : null
}

function figuresOf({ turnCount, usage, fileCount }: Summary) {
  return {
    turns: turnCount,
    tokens: usage.totalTokens,
    files: fileCount,
    // In the currency of the price; null if the model has none.
    cost: usage.costMicros === null ? null : usage.costMicros / 1_000_000,
  }
}

/** `owned`: whether the person may see what an agent of this owner says. */
export function toAgentList(agents: readonly ListedAgent[], owned: (owner: string) => boolean) {
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
      // The beginning of its first prompt; empty if there is none, or the person may not see it.
      task: isOwn ? task : '',
      lastMs: agent.lastAt,
      // The first agent of its family, if that is another: the one that made it, or that it is a fork of.
      familyOf: id === agent.id ? null : id,
    }
  })
}

/** After a turn of the past everything is as it was then. */
export function agentPage(
  { agent, family, portable, messages, files, summary }: AgentSnapshot,
  turn: number | null,
) {
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
    // Agents that share the budgets with it.
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
    // The turn that is shown; null for now.
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
function messagesOf(messages: AgentSnapshot['messages']) {
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

export function agentEvent(entry: HistoryEntry) {
  const { seq, at: _at, kind, turn, ...details } = historyView(entry)
  return { seq, atMs: entry.at, kind, turn, says: shorten(JSON.stringify(details)) }
}

function shorten(text: string): string {
  return truncate(text, MESSAGE_LENGTH_SHOWN)
}
