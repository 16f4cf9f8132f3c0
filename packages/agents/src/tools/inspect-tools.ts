// The tools that show an agent: files, todos, whether it is stopped, its state, tools and turns, what
// happened to it, and its journal run again. None of them changes anything.

import { processClock } from '@sluice/ledger/store/process-clock'
import { z } from 'zod'
import type { ChatMessage, ModelTool, PortableAgent, Todo } from '../guest/protocol.ts'
import { MESSAGES_PAGE_LENGTH } from '../shared/limits.ts'
import {
  agentId,
  agentShape,
  count,
  index,
  type ToolEntry,
  text,
  tool,
  usageShape,
} from './tool-table.ts'
import {
  agentView,
  fileView,
  historyView,
  stopView,
  systemMessage,
  todoView,
  usageView,
} from './views.ts'

const one = z.strictObject({ agentId })
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

export const INSPECT_TOOLS: readonly ToolEntry[] = [
  tool({
    name: 'wasm_agent_files',
    title: "List an agent's files",
    description:
      'Lists the files in the sandbox of a WASM agent with size, time and digest; with `path` one file and its content. Use it to see or fetch what the agent has written.',
    category: 'Read',
    input: z.strictObject({
      agentId,
      path: text.optional().describe('one file, with its content'),
      glob: text.optional().describe('only files that match, such as `src/**/*.ts`'),
    }),
    output: z.strictObject({
      files: z.array(file),
      fileCount: count,
      tools: z.array(text),
      turnCount: count,
    }),
    run: async ({ agentId: id, path, glob }, { service, owner }) => {
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
  }),
  tool({
    name: 'wasm_agent_todos',
    title: "An agent's todos",
    description:
      'Gets the todo list of a WASM agent as structured data: every item in order with id, status and times, and counts. Use it to see what the agent plans and how far it is, without asking its model.',
    category: 'Read',
    input: one,
    output: z.strictObject({ agentId: text, todos: z.array(todo), counts }),
    run: async ({ agentId: id }, { service, owner }) =>
      todoView(id, (await service.ask<Todo[]>(owner, id, { ask: 'todos' })).value),
  }),
  tool({
    name: 'wasm_agent_is_stopped',
    title: 'Is an agent stopped?',
    description:
      'Tells whether a WASM agent is stopped, since when and why, and how many of its turns are used. Use it to poll the stop condition without starting anything or asking its model.',
    category: 'Read',
    input: one,
    output: z.strictObject({
      agentId: text,
      isStopped: z.boolean(),
      reason: text.nullable(),
      detail: text.nullable(),
      turnCount: count,
      maxTurns: count,
      at: text.nullable(),
    }),
    run: async ({ agentId: id }, { service, owner }) => {
      return stopView(await service.steps.standing(owner, id, processClock.nowMs()))
    },
  }),
  tool({
    name: 'wasm_agent_state',
    title: "An agent's state",
    description:
      'Gets the state of a WASM agent: its messages (a page from `from`), turns, stop and configuration. Use it to read the conversation as the agent has it.',
    category: 'Read',
    input: z.strictObject({ agentId, from: index.optional().describe('the first message') }),
    output: z.strictObject({
      agentId: text,
      agent: agentShape,
      usage: usageShape,
      state: z.strictObject({
        messages: z.array(z.record(text, z.unknown())),
        turn_count: count,
        stopped: z.boolean(),
        config: z.record(text, z.unknown()),
      }),
      nextFrom: count.nullable(),
    }),
    run: async ({ agentId: id, from = 0 }, { service, owner }) => {
      const question = { ask: 'messages', from, bytesMax: MESSAGES_PAGE_LENGTH } as const
      const page = await service.ask<{ messages: ChatMessage[]; next: number | null }>(
        owner,
        id,
        question,
      )
      const { value } = await service.ask<PortableAgent>(owner, id, { ask: 'portable' })
      const { agent, held } = await service.steps.standing(owner, id, processClock.nowMs())
      const { instructions } = value.config
      // The system message is the config's; it is no message of the page.
      const system = from === 0 && instructions !== '' ? [systemMessage(instructions)] : []
      return {
        agentId: id,
        agent: agentView(agent),
        usage: usageView(agent.summary.usage),
        state: {
          messages: [...system, ...page.value.messages],
          turn_count: value.turnCount,
          stopped: value.stop !== null || held !== null,
          config: { ...value.config },
        },
        nextFrom: page.value.next,
      }
    },
  }),
  tool({
    name: 'wasm_agent_tools',
    title: "An agent's tools",
    description:
      'Lists the tools that a WASM agent has, with their definitions: those of its sandbox and those it was given. Use it before wasm_agent_tool, or to see what the agent could do.',
    category: 'Read',
    input: one,
    output: z.strictObject({
      agentId: text,
      tools: z.array(text),
      definitions: z.array(
        z.strictObject({ name: text, description: text, inputSchema: z.unknown() }),
      ),
    }),
    run: async ({ agentId: id }, { service, owner }) => {
      const { value } = await service.ask<ModelTool[]>(owner, id, { ask: 'tools' })
      return { agentId: id, tools: value.map(({ name }) => name), definitions: [...value] }
    },
  }),
  tool({
    name: 'wasm_agent_turn_count',
    title: "An agent's turns",
    description:
      'Tells how many turns (answered model calls) a WASM agent has behind it. Use it to follow the progress of a run, or what is left of `maxTurns`.',
    category: 'Read',
    input: one,
    output: z.strictObject({ agentId: text, turnCount: count }),
    run: async ({ agentId: id }, { service, owner }) => {
      const { agent } = await service.steps.standing(owner, id, processClock.nowMs())
      return { agentId: id, turnCount: agent.summary.turnCount }
    },
  }),
  tool({
    name: 'wasm_agent_history',
    title: "An agent's history",
    description:
      'Lists what happened to a WASM agent, event by event: prompts, turns, calls, results and usage. Use it to see how the agent came to its state.',
    category: 'Read',
    input: z.strictObject({
      agentId,
      from: z.int().min(1).optional().describe('the first event'),
      to: z.int().min(1).optional().describe('the last event'),
      whole: z.boolean().optional().describe('texts uncut'),
    }),
    output: z.strictObject({
      agentId: text,
      events: z.array(z.looseObject({ seq: count, at: text, kind: text, turn: count })),
      nextCursor: count.nullable(),
      startsAt: count,
      lastSeq: count,
    }),
    run: async ({ agentId: id, from = 1, to, whole = false }, { service, owner }) => {
      const startsAt = await service.steps.historyStart(owner, id)
      const entries = await service.steps.history(owner, id, from, to ?? null)
      const last = entries.at(-1)
      const { agent } = await service.steps.standing(owner, id, processClock.nowMs())
      const nextCursor = last === undefined || last.seq >= (to ?? agent.seq) ? null : last.seq + 1
      const lengthMax = whole ? Number.POSITIVE_INFINITY : undefined
      const events = entries.map((entry) => historyView(entry, { lengthMax, price: agent.price }))
      return { agentId: id, events, nextCursor, startsAt, lastSeq: agent.seq }
    },
  }),
  tool({
    name: 'wasm_agent_replay',
    title: "Replay an agent's journal",
    description:
      'Reads the journal of a WASM agent and compares its answers and memory byte for byte with a fresh sandbox. Use it to show that a history is true; returns the first event that differs.',
    category: 'Read',
    input: z.strictObject({
      agentId,
      to: index.optional().describe('up to this turn; all without it'),
    }),
    output: z.strictObject({
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
    run: async ({ agentId: id, to }, { service, owner }) => {
      const report = await service.steps.replay(owner, id, to ?? null)
      return { agentId: id, isSame: report.difference === null, ...report }
    },
  }),
]
