// Agents as the console shows them: a row each, and one with its conversation, todos, files, what it
// has used of its budgets and why it stopped. What agents and models say is cut, never judged. Pure.

import type { AgentRow } from '../../agents/journal/rows.ts'
import type { AgentSnapshot } from '../../agents/step-thread/inspect-agent.ts'
import type { HistoryEntry } from '../../agents/step-thread/operation-results.ts'
import { historyView } from '../../agents/tools/views.ts'
import { MESSAGE_LENGTH_SHOWN, MESSAGES_SHOWN } from '../contract/console-limits.ts'
import type {
  AgentEvent,
  AgentMessage,
  AgentPage,
  AgentView,
} from '../contract/contract-console.ts'

export function agentView(agent: AgentRow): AgentView {
  const { id, owner, model, template, summary, hostStop, createdAt, depth } = agent
  return {
    ...{ id, owner, model, template, depth, createdAtMs: createdAt },
    state: hostStop === null ? summary.state : 'stopped',
    turns: summary.turnCount,
    tokens: summary.usage.totalTokens,
    files: summary.fileCount,
  }
}

export function agentPage(
  { agent, family, portable, messages, files }: AgentSnapshot,
  turn: number | null,
): AgentPage {
  const stop = portable.stop ?? (turn === null ? agent.hostStop : null)
  const { limits, turns, tokens, calls, costMicros } = family
  return {
    ...agentView(agent),
    stop: stop === null ? null : { reason: stop.reason, detail: stop.detail },
    waitingFor: agent.summary.waitingFor,
    todos: portable.todos.map(({ id, content, status }) => ({
      id,
      content: truncate(content),
      status,
    })),
    fileList: files.map(({ path, bytes }) => ({ path, bytes })),
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

/** Calls with their results in one: a model's turn reads as it was. */
function messagesOf(messages: AgentSnapshot['messages']): AgentMessage[] {
  const results = new Map(
    messages.flatMap((message) =>
      message.role === 'tool' ? [[message.callId, message] as const] : [],
    ),
  )
  return messages
    .flatMap((message): AgentMessage[] => {
      if (message.role === 'tool') return []
      const calls = message.role === 'assistant' ? message.toolCalls : []
      return [
        {
          role: message.role,
          text: truncate(message.content),
          calls: calls.map(({ id, name, input }) => ({
            ...{ id, name, input: truncate(JSON.stringify(input) ?? '') },
            result: results.has(id) ? truncate(results.get(id)?.content ?? '') : null,
            isError: results.get(id)?.isError ?? false,
          })),
        },
      ]
    })
    .slice(-MESSAGES_SHOWN)
}

export function agentEvent(entry: HistoryEntry): AgentEvent {
  const { seq, at: _at, kind, turn, ...said } = historyView(entry)
  return { seq, atMs: entry.at, kind, turn, says: truncate(JSON.stringify(said)) }
}

function truncate(text: string): string {
  if (text.length <= MESSAGE_LENGTH_SHOWN) return text
  return `${text.slice(0, MESSAGE_LENGTH_SHOWN)} [${text.length - MESSAGE_LENGTH_SHOWN} characters left off]`
}
