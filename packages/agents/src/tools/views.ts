// What callers are shown of an agent: plain data with the field names that users of such agents
// know. The same for the MCP server and the command line. Pure.

import type {
  JournalEvent,
  Price,
  RunStop,
  StopReason,
  Todo,
  TokenUsage,
} from '../guest/protocol.ts'
import { costOf } from '../journal/family-limits.ts'
import type { AgentRow } from '../journal/rows.ts'
import type { ToolResult } from '../runs/run-watch.ts'
import type { PromptAnswer } from '../service/service-types.ts'
import type { DigestedFile } from '../step-thread/file-digests.ts'
import type { AgentStatus, HistoryEntry } from '../step-thread/operation-results.ts'

const SHOWN_LENGTH = 2_000

/** An agent in a list. */
export interface AgentView {
  readonly id: string
  readonly state: AgentRow['state']
  /** What it was created with. */
  readonly config: AgentRow['asked']
  readonly model: string
  readonly turnCount: number
  readonly fileCount: number
  /** The guest has stopped itself, or the host has stopped it. */
  readonly isStopped: boolean
  /** ISO 8601, as all times here. */
  readonly createdAt: string
}

/** Whether and why an agent has stopped; without a stop the members of it are null. */
export interface StopView {
  readonly agentId: string
  readonly isStopped: boolean
  readonly reason: StopReason | null
  readonly detail: string | null
  readonly turnCount: number
  /** The limit that the family has today. */
  readonly maxTurns: number
  readonly at: string | null
}

export interface TodoView {
  readonly agentId: string
  readonly todos: (Omit<Todo, 'createdAt' | 'updatedAt'> & {
    readonly createdAt: string
    readonly updatedAt: string
  })[]
  /** How many todos have each status. */
  readonly counts: Readonly<Record<Todo['status'], number>>
}

export interface FileView {
  readonly path: string
  readonly bytes: number
  readonly modifiedAt: string
  readonly digest: string
  /** The content of a text, if it was asked for. */
  readonly content?: string
  /** The content of a file that is no text, if it was asked for. */
  readonly contentBase64?: string
}

export interface UsageView {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly totalTokens: number
  /** In the currency of the price; absent if the model has none. */
  readonly cost?: number
}

/** A prompt that has not been answered yet. */
export interface RunningPromptView {
  readonly state: AgentRow['state']
  readonly runId: string
  readonly turnCount: number
  readonly waitingFor: string | null
  /** Named in every answer, so that a script is seen to be one. */
  readonly model: string
}

export interface AnsweredPromptView {
  readonly response: string
  readonly turns: number
  readonly toolCalls: number
  readonly stop: { readonly reason: RunStop; readonly detail: string }
  readonly usage: UsageView
  readonly model: string
}

export interface ToolCallView {
  readonly success: boolean
  /** What people read. */
  readonly output: string
  /** The whole record of a tool whose output is put into other words. */
  readonly result?: Readonly<Record<string, unknown>>
}

/** An entry of the journal. The other members depend on its kind, so it is a type and no interface. */
export type HistoryView = {
  readonly seq: number
  readonly at: string
  readonly kind: string
  readonly turn: number
}

export function agentView(agent: AgentRow): AgentView {
  const { id, state, asked, model, summary, hostStop, createdAt } = agent
  return {
    id,
    state,
    config: asked,
    model,
    turnCount: summary.turnCount,
    fileCount: summary.fileCount,
    isStopped: summary.stop !== null || hostStop !== null,
    createdAt: new Date(createdAt).toISOString(),
  }
}

/** The reason is the guest's own; that of the host if the guest did not stop itself. */
export function stopView({ agent, held, family }: AgentStatus): StopView {
  const stop = agent.summary.stop ?? held
  return {
    agentId: agent.id,
    isStopped: stop !== null,
    reason: stop?.reason ?? null,
    detail: stop?.detail ?? null,
    turnCount: agent.summary.turnCount,
    maxTurns: family.limits.maxTurns,
    at: stop === null ? null : new Date(stop.at).toISOString(),
  }
}

export function todoView(agentId: string, todos: readonly Todo[]): TodoView {
  const counts = { pending: 0, in_progress: 0, completed: 0, cancelled: 0 }
  for (const { status } of todos) counts[status] += 1
  return {
    agentId,
    todos: todos.map(({ id, content, status, createdAt, updatedAt }) => ({
      id,
      content,
      status,
      createdAt: new Date(createdAt).toISOString(),
      updatedAt: new Date(updatedAt).toISOString(),
    })),
    counts,
  }
}

export function fileView({
  path,
  bytes,
  modifiedAt,
  digest,
  content,
  isText,
}: DigestedFile): FileView {
  const about = { path, bytes, modifiedAt: new Date(modifiedAt).toISOString(), digest }
  if (content === undefined) return about
  const buffer = Buffer.from(content)
  return isText
    ? { ...about, content: buffer.toString('utf8') }
    : { ...about, contentBase64: buffer.toString('base64') }
}

export function promptView(answer: PromptAnswer): RunningPromptView | AnsweredPromptView {
  const { model } = answer.agent
  if (answer.state === 'running') {
    const { turnCount, waitingFor } = answer.agent.summary
    return { state: answer.agent.state, runId: answer.runId, turnCount, waitingFor, model }
  }
  const { response, turns, toolCalls, stop, usage } = answer
  return { response, turns, toolCalls, stop, usage: usageView(usage), model }
}

/** What Claude Flow's agents answer for the tools that they have too, from the record that the tool returns. */
const OUTPUTS: Readonly<
  Record<string, (record: Record<string, unknown>, input: Record<string, unknown>) => string>
> = {
  read_file: ({ content }) => String(content),
  write_file: ({ bytes }, { path }) => `wrote ${bytes} bytes to ${path}`,
  edit_file: (_, { path }) => `edited ${path}`,
  list_files: ({ files }) => JSON.stringify((files as { path: string }[]).map(({ path }) => path)),
  write_todos: ({ todos }) => `wrote ${(todos as unknown[]).length} todos`,
}

/** A call of an agent's tool: the words that Claude Flow's users know, with the whole record as `result`. A failed
 * call and any other tool have their own text. */
export function toolCallView(
  name: string,
  input: Record<string, unknown>,
  { content, isError }: ToolResult,
): ToolCallView {
  const words = OUTPUTS[name]
  if (isError || words === undefined) return { success: !isError, output: content }
  const result = JSON.parse(content) as Record<string, unknown>
  return { success: true, output: words(result, input), result }
}

/** Makes the first message of exports and of states of other agents, which says what the agent is told. */
export function systemMessage(content: string): {
  readonly role: 'system'
  readonly content: string
} {
  return { role: 'system', content }
}

export function usageView(usage: TokenUsage): UsageView {
  const { inputTokens, outputTokens, totalTokens, costMicros } = usage
  const cost = costMicros === null ? {} : { cost: costMicros / 1_000_000 }
  return { inputTokens, outputTokens, totalTokens, ...cost }
}

export interface HistoryViewOptions {
  /** Contents are cut to this, with how much was left off. */
  readonly lengthMax?: number | undefined
  /** The price of the agent's model: the usage of a turn then has its cost. */
  readonly price?: Price | null
}

export function historyView(
  { seq, at, kind, turn, event }: HistoryEntry,
  { lengthMax = SHOWN_LENGTH, price = null }: HistoryViewOptions = {},
): HistoryView {
  return {
    seq,
    at: new Date(at).toISOString(),
    kind,
    turn,
    ...detail(event, price, (text) => truncate(text, lengthMax)),
  }
}

function detail(event: JournalEvent, price: Price | null, cut: (text: string) => string): object {
  switch (event.kind) {
    case 'create':
      return { model: event.config.model, files: event.files.length }
    case 'prompt':
      return { runId: event.runId, input: cut(event.input) }
    case 'model':
      return {
        text: cut(event.text),
        effectId: event.effectId,
        toolCalls: event.toolCalls.map(({ name, input, refused }) => ({
          name,
          input: cut(JSON.stringify(input)),
          ...(refused === undefined ? {} : { refused }),
        })),
        usage: { ...event.usage, ...(price && { cost: costOf(event.usage, price) / 1_000_000 }) },
      }
    case 'model_failed':
      return { code: event.code, message: cut(event.message) }
    case 'tool':
      return { effectId: event.effectId, isError: event.isError, content: cut(event.content) }
    case 'code':
      return {
        effectId: event.effectId,
        isError: event.isError,
        content: cut(event.content),
        written: event.write.map(({ path }) => path),
        removed: event.remove,
      }
    case 'waiting':
      return { effectId: event.effectId, on: event.on }
    case 'direct':
      return { name: event.name, input: cut(JSON.stringify(event.input) ?? '') }
    case 'stop':
      return { reason: event.reason, detail: event.detail }
    case 'pause':
      return { reason: event.reason }
    case 'resume':
      return { limits: event.limits, ...(event.runId === undefined ? {} : { runId: event.runId }) }
    case 'reset':
      return { keepFiles: event.keepFiles }
    case 'cancel':
      return { runId: event.runId }
    default:
      return {}
  }
}

export function truncate(text: string, lengthMax = SHOWN_LENGTH): string {
  if (text.length <= lengthMax) return text
  return `${text.slice(0, lengthMax)} [${text.length - lengthMax} characters left off]`
}
