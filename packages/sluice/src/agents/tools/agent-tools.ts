// The tools for agents: each takes the caller's arguments, asks the service as the caller, and
// answers with a view. No tool here decides what anybody may; the service finds by owner.

import { z } from 'zod'
import type { ChatMessage, ModelTool, PortableAgent, Todo } from '../../guest/protocol.ts'
import { processClock } from '../../store/process-clock.ts'
import { AgentError } from '../shared/errors.ts'
import { FORKS_MAX, LIST_PAGE_MAX, MESSAGES_PAGE_LENGTH, WAIT_MS_MAX } from '../shared/limits.ts'
import { createShape, limitsShape } from '../transfer/create-config.ts'
import { instructionsOf, readRvf } from '../transfer/rvf.ts'
import {
  agentId,
  agentShape,
  count,
  promptShape,
  stateShape,
  success,
  type ToolEntry,
  text,
  tool,
} from './tool-table.ts'
import { agentView, fileView, historyView, promptView, stopView, todoView } from './views.ts'

const one = z.strictObject({ agentId })
const waitMs = z.int().min(0).max(WAIT_MS_MAX).optional().describe('how long to wait for the end')
const file = z.strictObject({
  path: text,
  bytes: count,
  modifiedAt: text,
  digest: text,
  content: text.optional(),
  contentBase64: text.optional(),
})
const counts = z.strictObject({
  pending: count,
  in_progress: count,
  completed: count,
  cancelled: count,
})
const todo = z.strictObject({
  id: text,
  content: text,
  status: z.enum(['pending', 'in_progress', 'completed', 'cancelled']),
  createdAt: text,
  updatedAt: text,
})

export const AGENT_TOOLS: readonly ToolEntry[] = [
  tool(
    'wasm_agent_create',
    [
      'Create an agent',
      'Creates an agent in a sandbox of its own: files, todos, conversation, limits.',
    ],
    'Write',
    createShape,
    z.strictObject({ success, agent: agentShape, source: text.optional() }),
    async (given, { service, gallery, owner, parent, madeLabels }) => {
      const by = { parent, labels: madeLabels }
      if (given.rvfBase64 !== undefined) {
        const made = instructionsOf(readRvf(Buffer.from(given.rvfBase64, 'base64')))
        const instructions = [made, given.instructions].filter(Boolean).join('\n\n')
        const agent = await service.create(owner, { ...given, instructions }, by)
        return { success: true, agent: agentView(agent), source: 'rvf' }
      }
      if (given.template === undefined)
        return { success: true, agent: agentView(await service.create(owner, given, by)) }
      const agent = await service.create(
        owner,
        await gallery.fill(owner, given.template, given),
        by,
      )
      return { success: true, agent: agentView(agent), source: 'gallery' }
    },
  ),
  tool(
    'wasm_agent_prompt',
    [
      'Prompt an agent',
      'Gives an agent something to do and waits for its answer; a longer run is picked up with wasm_agent_wait.',
    ],
    'Execute',
    z.strictObject({
      agentId,
      input: text.min(1),
      maxTurns: z.int().min(1).optional().describe('turns of this run'),
      waitMs,
      requestId: text.min(1).max(128).optional().describe('the same id never starts a second run'),
    }),
    promptShape,
    async ({ agentId: id, ...given }, { service, owner, onProgress, signal }) =>
      promptView(await service.prompt(owner, id, given, onProgress, signal)),
  ),
  tool(
    'wasm_agent_wait',
    [
      'Wait for a run',
      'Waits for a run that wasm_agent_prompt left running, the newest unless one is named.',
    ],
    'Read',
    z.strictObject({ agentId, runId: text.max(64).optional(), waitMs }),
    promptShape,
    async ({ agentId: id, runId, waitMs: ms }, { service, owner, onProgress }) =>
      promptView(await service.wait(owner, id, runId, ms, onProgress)),
  ),
  tool(
    'wasm_agent_tool',
    [
      "Call an agent's tool",
      'Calls a tool of the agent directly: its own, or one it was given, through the gate.',
    ],
    'Execute',
    z.strictObject({
      agentId,
      toolName: text.max(128),
      toolInput: z.record(text, z.unknown()).optional(),
    }),
    z.strictObject({ success: z.boolean(), output: text }),
    async ({ agentId: id, toolName, toolInput }, { service, owner }) => {
      const { content, isError } = await service.callTool(owner, id, toolName, toolInput ?? {})
      return { success: !isError, output: content }
    },
  ),
  tool(
    'wasm_agent_list',
    ['List agents', 'Lists your agents, a page at a time.'],
    'Read',
    z.strictObject({
      filter: z.strictObject({ state: stateShape.optional() }).optional(),
      cursor: text.max(32).optional(),
    }),
    z.strictObject({ agents: z.array(agentShape), count, nextCursor: text.nullable() }),
    async ({ filter, cursor }, { service, owner }) => {
      const after = cursor === undefined ? 0 : Number(cursor)
      if (!Number.isSafeInteger(after) || after < 0)
        throw new AgentError('AGENT_INPUT', `\`${cursor}\` is no cursor of this list`)
      const rows = await service.steps.list(owner, filter?.state ?? null, after, LIST_PAGE_MAX)
      const nextCursor = rows.length < LIST_PAGE_MAX ? null : String(rows.at(-1)?.key)
      return { agents: rows.map(agentView), count: rows.length, nextCursor }
    },
  ),
  tool(
    'wasm_agent_files',
    [
      "List an agent's files",
      'Lists files with size, time and digest; with `path` one file and its content.',
    ],
    'Read',
    z.strictObject({ agentId, path: text.optional(), glob: text.optional() }),
    z.strictObject({
      files: z.array(file),
      fileCount: count,
      tools: z.array(text),
      turnCount: count,
    }),
    async ({ agentId: id, path, glob }, { service, owner }) => {
      const question = {
        ...(path === undefined ? {} : { path }),
        ...(glob === undefined ? {} : { glob }),
      }
      const { agent, files } = await service.steps.files(owner, id, question, processClock.nowMs())
      const tools = await service.ask<ModelTool[]>(owner, id, { ask: 'tools' })
      const { fileCount, turnCount } = agent.summary
      const names = tools.value.map(({ name }) => name)
      return { files: files.map(fileView), fileCount, tools: names, turnCount }
    },
  ),
  tool(
    'wasm_agent_todos',
    ["An agent's todos", 'The whole todo list, in its order, with counts.'],
    'Read',
    one,
    z.strictObject({ agentId: text, todos: z.array(todo), counts }),
    async ({ agentId: id }, { service, owner }) =>
      todoView(id, (await service.ask<Todo[]>(owner, id, { ask: 'todos' })).value),
  ),
  tool(
    'wasm_agent_is_stopped',
    ['Is an agent stopped?', 'Whether it is stopped, since when and why.'],
    'Read',
    one,
    z.strictObject({
      agentId: text,
      isStopped: z.boolean(),
      reason: text.nullable(),
      detail: text.nullable(),
      turnCount: count,
      maxTurns: count,
      at: text.nullable(),
    }),
    async ({ agentId: id }, { service, owner }) => {
      return stopView(await service.steps.standing(owner, id, processClock.nowMs()))
    },
  ),
  tool(
    'wasm_agent_state',
    ["An agent's state", 'Messages (a page from `from`), turns, stop and config.'],
    'Read',
    z.strictObject({ agentId, from: count.optional() }),
    z.strictObject({
      agentId: text,
      state: z.strictObject({
        messages: z.array(z.record(text, z.unknown())),
        turn_count: count,
        stopped: z.boolean(),
        config: z.record(text, z.unknown()),
      }),
      nextFrom: count.nullable(),
    }),
    async ({ agentId: id, from = 0 }, { service, owner }) => {
      const question = { ask: 'messages', from, bytesMax: MESSAGES_PAGE_LENGTH } as const
      const page = await service.ask<{ messages: ChatMessage[]; next: number | null }>(
        owner,
        id,
        question,
      )
      const { value } = await service.ask<PortableAgent>(owner, id, { ask: 'portable' })
      const { held } = await service.steps.standing(owner, id, processClock.nowMs())
      return {
        agentId: id,
        state: {
          messages: page.value.messages as never,
          turn_count: value.turnCount,
          stopped: value.stop !== null || held !== null,
          config: { ...value.config },
        },
        nextFrom: page.value.next,
      }
    },
  ),
  tool(
    'wasm_agent_tools',
    ["An agent's tools", 'The tools it has: its own and those it was given.'],
    'Read',
    one,
    z.strictObject({
      agentId: text,
      tools: z.array(z.strictObject({ name: text, description: text, inputSchema: z.unknown() })),
    }),
    async ({ agentId: id }, { service, owner }) => {
      const { value } = await service.ask<ModelTool[]>(owner, id, { ask: 'tools' })
      return { agentId: id, tools: [...value] }
    },
  ),
  tool(
    'wasm_agent_turn_count',
    ["An agent's turns", 'How many answered model calls it has behind it.'],
    'Read',
    one,
    z.strictObject({ agentId: text, turnCount: count }),
    async ({ agentId: id }, { service, owner }) => {
      const { agent } = await service.steps.standing(owner, id, processClock.nowMs())
      return { agentId: id, turnCount: agent.summary.turnCount }
    },
  ),
  tool(
    'wasm_agent_fork',
    [
      'Fork an agent',
      'Makes copies that go their own way, of now or of an earlier turn; they share the budget.',
    ],
    'Write',
    z.strictObject({
      agentId,
      count: z.int().min(1).max(FORKS_MAX).optional(),
      at: count.optional(),
    }),
    z.strictObject({ agents: z.array(agentShape) }),
    async ({ agentId: id, count: copies = 1, at }, { service, owner }) => ({
      agents: (await service.fork(owner, id, copies, at ?? null)).map(agentView),
    }),
  ),
  tool(
    'wasm_agent_stop',
    ['Stop an agent', 'Stops it and whatever it is doing; wasm_agent_resume lifts it.'],
    'Execute',
    z.strictObject({ agentId, reason: text.max(1_000).optional() }),
    z.strictObject({ success, agentId: text, isStopped: z.boolean(), reason: text }),
    async ({ agentId: id, reason = 'asked to stop' }, { service, owner }) => {
      const agent = await service.stop(owner, id, reason)
      const isStopped = agent.summary.stop !== null
      return { success: true, agentId: id, isStopped, reason: agent.summary.stop?.reason ?? '' }
    },
  ),
  tool(
    'wasm_agent_pause',
    [
      'Pause an agent',
      'Holds it between two steps: what was sent ends, nothing new is sent. wasm_agent_resume goes on.',
    ],
    'Execute',
    z.strictObject({
      agentId,
      reason: text.max(1_000).optional().describe('why, for its history'),
    }),
    z.strictObject({ success, agentId: text, state: stateShape, runId: text.nullable() }),
    async ({ agentId: id, reason = 'asked to pause' }, { service, owner }) => {
      const { state, summary } = await service.pause(owner, id, reason)
      return { success: true, agentId: id, state, runId: summary.runId }
    },
  ),
  tool(
    'wasm_agent_resume',
    [
      'Resume an agent',
      'Goes on after a pause, and after a stop by a limit that is raised; lifts a stop. wasm_agent_wait waits for the run it names.',
    ],
    'Execute',
    z.strictObject({ agentId, limits: limitsShape.optional().describe('limits to set') }),
    z.strictObject({
      success,
      agentId: text,
      isStopped: z.boolean(),
      state: stateShape,
      runId: text.nullable(),
    }),
    async ({ agentId: id, limits }, { service, owner, parent }) => {
      const { state, summary } = await service.resume(owner, id, limits ?? {}, { parent })
      const isStopped = state === 'stopped'
      return { success: true, agentId: id, isStopped, state, runId: summary.runId }
    },
  ),
  tool(
    'wasm_agent_history',
    [
      "An agent's history",
      'What happened, event by event: prompts, turns, calls, results, usage; from the first that is kept.',
    ],
    'Read',
    z.strictObject({ agentId, from: z.int().min(1).optional(), to: z.int().min(1).optional() }),
    z.strictObject({
      agentId: text,
      events: z.array(z.looseObject({ seq: count, at: text, kind: text, turn: count })),
      nextCursor: count.nullable(),
      startsAt: count,
    }),
    async ({ agentId: id, from = 1, to }, { service, owner }) => {
      const startsAt = await service.steps.historyStart(owner, id)
      const entries = await service.steps.history(owner, id, from, to ?? null)
      const last = entries.at(-1)
      const { agent } = await service.steps.standing(owner, id, processClock.nowMs())
      const nextCursor = last === undefined || last.seq >= (to ?? agent.seq) ? null : last.seq + 1
      return { agentId: id, events: entries.map(historyView), nextCursor, startsAt }
    },
  ),
  tool(
    'wasm_agent_replay',
    [
      "Replay an agent's journal",
      'Runs its journal again in a fresh sandbox and compares answers and memory byte for byte; names the event of a difference. Changes nothing.',
    ],
    'Read',
    z.strictObject({ agentId, to: count.optional().describe('up to this turn; all without it') }),
    z.strictObject({
      agentId: text,
      isSame: z.boolean(),
      from: count,
      to: count,
      turn: count,
      events: count,
      memories: count,
      memoryDigest: text.nullable(),
      difference: z
        .strictObject({ seq: count, kind: text, turn: count, what: text, detail: text })
        .nullable(),
    }),
    async ({ agentId: id, to }, { service, owner }) => {
      const report = await service.steps.replay(owner, id, to ?? null)
      return { agentId: id, isSame: report.difference === null, ...report }
    },
  ),
  tool(
    'wasm_agent_reset',
    ['Reset an agent', 'Clears conversation, todos, turns and files (kept with keepFiles).'],
    'Destructive',
    z.strictObject({ agentId, keepFiles: z.boolean().optional() }),
    z.strictObject({ success, agentId: text }),
    async ({ agentId: id, keepFiles = false }, { service, owner, parent }) => {
      await service.reset(owner, id, keepFiles, { parent })
      return { success: true, agentId: id }
    },
  ),
  tool(
    'wasm_agent_terminate',
    ['Remove an agent', 'Ends it and removes everything of it, its journal included.'],
    'Destructive',
    one,
    z.strictObject({ success }),
    async ({ agentId: id }, { service, owner }) => {
      await service.terminate(owner, id)
      return { success: true }
    },
  ),
]
