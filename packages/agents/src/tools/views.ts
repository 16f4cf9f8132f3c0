// What callers are shown of an agent: plain data with the field names that users of such agents
// know. The same for the MCP server and the command line. Pure.

import type { JournalEvent, Todo, TokenUsage } from '../guest/protocol.ts'
import type { AgentRow } from '../journal/rows.ts'
import type { ToolResult } from '../runs/run-watch.ts'
import type { PromptAnswer } from '../service/service-types.ts'
import type { DigestedFile } from '../step-thread/file-digests.ts'
import type { AgentStatus, HistoryEntry } from '../step-thread/operation-results.ts'

const SHOWN_LENGTH = 2_000

export function agentView(agent: AgentRow) {
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

/** The guest's own reason where it has one; the host's where the guest did not stop itself. */
export function stopView({ agent, held, family }: AgentStatus) {
  const stop = agent.summary.stop ?? held
  return {
    agentId: agent.id,
    isStopped: stop !== null,
    reason: stop?.reason ?? null,
    detail: stop?.detail ?? null,
    turnCount: agent.summary.turnCount,
    // As the family has it today.
    maxTurns: family.limits.maxTurns,
    at: stop === null ? null : new Date(stop.at).toISOString(),
  }
}

export function todoView(agentId: string, todos: readonly Todo[]) {
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

export function fileView({ path, bytes, modifiedAt, digest, content, isText }: DigestedFile) {
  const about = { path, bytes, modifiedAt: new Date(modifiedAt).toISOString(), digest }
  if (content === undefined) return about
  const buffer = Buffer.from(content)
  return isText
    ? { ...about, content: buffer.toString('utf8') }
    : { ...about, contentBase64: buffer.toString('base64') }
}

/** `model` is there so that a script is named as one in every answer. */
export function promptView(answer: PromptAnswer) {
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
) {
  const words = OUTPUTS[name]
  if (isError || words === undefined) return { success: !isError, output: content }
  const result = JSON.parse(content) as Record<string, unknown>
  return { success: true, output: words(result, input), result }
}

/** As exports and states of other agents have it: the first message says what the agent is told. */
export function systemMessage(content: string) {
  return { role: 'system' as const, content }
}

export function usageView(usage: TokenUsage) {
  const { inputTokens, outputTokens, totalTokens, costMicros } = usage
  const cost = costMicros === null ? {} : { cost: costMicros / 1_000_000 }
  return { inputTokens, outputTokens, totalTokens, ...cost }
}

/** An event in a line or two; contents are cut, with how much was left off. */
export function historyView({ seq, at, kind, turn, event }: HistoryEntry) {
  return {
    seq,
    at: new Date(at).toISOString(),
    kind,
    turn,
    ...detail(event as unknown as JournalEvent),
  }
}

function detail(event: JournalEvent): object {
  switch (event.kind) {
    case 'create':
      return { model: event.config.model, files: event.files.length }
    case 'prompt':
      return { runId: event.runId, input: truncate(event.input) }
    case 'model':
      return {
        text: truncate(event.text),
        toolCalls: event.toolCalls.map(({ name, input }) => ({
          name,
          input: truncate(JSON.stringify(input)),
        })),
        usage: event.usage,
      }
    case 'model_failed':
      return { code: event.code, message: truncate(event.message) }
    case 'tool':
      return { effectId: event.effectId, isError: event.isError, content: truncate(event.content) }
    case 'code':
      return {
        effectId: event.effectId,
        isError: event.isError,
        content: truncate(event.content),
        written: event.write.map(({ path }) => path),
        removed: event.remove,
      }
    case 'waiting':
      return { effectId: event.effectId, on: event.on }
    case 'direct':
      return { name: event.name, input: truncate(JSON.stringify(event.input) ?? '') }
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
