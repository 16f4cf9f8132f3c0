// The tools for agents: each takes the caller's arguments, asks the service as the caller, and
// answers with a view. No tool here decides what anybody may; the service finds by owner.

import type { JsonObject } from '@sluice/policy/values/json'
import { z } from 'zod'
import { AgentError } from '../shared/errors.ts'
import { FORK_NAME_MAX, FORKS_MAX, LIST_PAGE_MAX, WAIT_MS_MAX } from '../shared/limits.ts'
import { createShape, limitsShape } from '../transfer/create-config.ts'
import { instructionsOf, readRvf } from '../transfer/rvf.ts'
import { AnswerSchema } from './answer-schema.ts'
import { findWriter } from './find-writer.ts'
import { visibleFamily } from './label-flow.ts'
import {
  agentId,
  agentShape,
  count,
  index,
  promptShape,
  stateShape,
  success,
  type ToolEntry,
  text,
  tool,
} from './tool-table.ts'
import { viewAnswer } from './view-answer.ts'
import { agentView, toolCallView } from './views.ts'

const one = z.strictObject({ agentId })
const schema = z
  .record(text, z.unknown())
  .optional()
  .describe('JSON Schema of the final answer, for `output`')
const waitMs = z.int().min(0).max(WAIT_MS_MAX).optional().describe('how long to wait for the end')
export const AGENT_TOOLS: readonly ToolEntry[] = [
  tool({
    name: 'wasm_agent_create',
    title: 'Create an agent',
    description:
      'Creates a WASM agent: a sandbox of its own with files, todos, a conversation and limits. Other servers are reached only through the gate. Use it to give work to an agent that is kept apart from your own context; returns its id.',
    category: 'Write',
    input: createShape,
    output: z.strictObject({ success, agent: agentShape, source: text.optional() }),
    run: async (input, { service, gallery, owner, parent, madeLabels }) => {
      const by = { parent, labels: madeLabels }
      if (input.rvfBase64 !== undefined) {
        const made = instructionsOf(readRvf(Buffer.from(input.rvfBase64, 'base64')))
        const instructions = [made, input.instructions].filter(Boolean).join('\n\n')
        const agent = await service.create(owner, { ...input, instructions }, by)
        return { success: true, agent: agentView(agent), source: 'rvf' }
      }
      if (input.template === undefined)
        return { success: true, agent: agentView(await service.create(owner, input, by)) }
      const agent = await service.create(
        owner,
        await gallery.fill(owner, input.template, input),
        by,
      )
      return { success: true, agent: agentView(agent), source: 'gallery' }
    },
  }),
  tool({
    name: 'wasm_agent_prompt',
    title: 'Prompt an agent',
    description:
      'Gives a WASM agent a task and waits for its answer. Use it to begin or continue. A run longer than `waitMs` goes on; wasm_agent_wait picks it up.',
    category: 'Execute',
    input: z.strictObject({
      agentId,
      input: text.min(1).describe('what it is to do'),
      maxTurns: z.int().min(1).optional().describe('turns of this run'),
      waitMs,
      requestId: text.min(1).max(128).optional().describe('the same id never starts a second run'),
      schema,
    }),
    output: promptShape,
    run: async ({ agentId: id, schema: form, ...request }, setting) => {
      const { service, owner, onProgress, signal } = setting
      const wanted = form && new AnswerSchema(form as JsonObject)
      const writer = findWriter(request.input, setting)
      const prompt = { ...request, form: wanted?.form, writer }
      const answer = await service.prompt(owner, id, prompt, onProgress, signal)
      return viewAnswer(answer, { ...setting, wanted, waitMs: request.waitMs })
    },
  }),
  tool({
    name: 'wasm_agent_wait',
    title: 'Wait for a run',
    description:
      'Waits for a run of a WASM agent that wasm_agent_prompt or wasm_agent_resume left running, the newest unless one is named. Use it instead of prompting again; it starts nothing.',
    category: 'Read',
    input: z.strictObject({
      agentId,
      runId: text.max(64).optional().describe('of wasm_agent_prompt or wasm_agent_resume'),
      waitMs,
      schema,
    }),
    output: promptShape,
    run: async ({ agentId: id, runId, waitMs: ms, schema: form }, setting) => {
      const { service, owner, onProgress } = setting
      const wanted = form && new AnswerSchema(form as JsonObject)
      const answer = await service.wait(owner, id, runId, ms, onProgress)
      return viewAnswer(answer, { ...setting, wanted, waitMs: ms })
    },
  }),
  tool({
    name: 'wasm_agent_tool',
    title: "Call an agent's tool",
    description:
      'Calls one tool of a WASM agent directly, without its model: a tool of its sandbox such as read_file or run_code, or one it was given, through the gate. Use it to prepare or check files and todos.',
    category: 'Execute',
    input: z.strictObject({
      agentId,
      toolName: text.max(128).describe('as wasm_agent_tools lists it'),
      toolInput: z.record(text, z.unknown()).optional().describe('its arguments'),
    }),
    output: z.strictObject({
      success,
      output: text,
      result: z.record(text, z.unknown()).optional(),
    }),
    run: async ({ agentId: id, toolName, toolInput = {} }, { service, owner }) => {
      const answer = await service.callTool(owner, id, toolName, toolInput)
      const view = toolCallView(toolName, toolInput, answer)
      const { path, offset, limit } = toolInput
      const hasPage = offset !== undefined || limit !== undefined
      if (toolName !== 'read_file' || answer.isError || hasPage) return view
      // Without a page the agent's model gets the first one; a caller gets the file, as from Claude Flow.
      const { content } = await service.ask(owner, id, { ask: 'read', path: String(path) })
      return { ...view, output: Buffer.from(content ?? []).toString() }
    },
    inText: ({ success, output }) => ({ success, output }),
  }),
  tool({
    name: 'wasm_agent_list',
    title: 'List agents',
    description:
      'Lists your WASM agents with id, state, model and turns, a page at a time. Use it to find an agent again or to see which are running, paused or stopped.',
    category: 'Read',
    input: z.strictObject({
      filter: z
        .strictObject({ state: stateShape.optional().describe('only those in this state') })
        .optional()
        .describe('which agents'),
      cursor: text.max(32).optional().describe('`nextCursor` of the page before'),
    }),
    output: z.strictObject({ agents: z.array(agentShape), count, nextCursor: text.nullable() }),
    run: async ({ filter, cursor }, setting) => {
      const { service, owner } = setting
      const after = cursor === undefined ? 0 : Number(cursor)
      if (!Number.isSafeInteger(after) || after < 0)
        throw new AgentError('AGENT_INPUT', `\`${cursor}\` is not a cursor of this list`)
      const family = (await visibleFamily(setting)) ?? null
      const state = filter?.state ?? null
      const rows = await service.steps.list(owner, state, after, LIST_PAGE_MAX, family)
      const nextCursor = rows.length < LIST_PAGE_MAX ? null : String(rows.at(-1)?.key)
      return { agents: rows.map(agentView), count: rows.length, nextCursor }
    },
  }),
  tool({
    name: 'wasm_agent_fork',
    title: 'Fork an agent',
    description:
      'Copies a WASM agent with its files, todos and conversation, as it is now or was after a turn. Use it to try several ways. Copies share the budget.',
    category: 'Write',
    input: z.strictObject({
      agentId,
      count: z.int().min(1).max(FORKS_MAX).optional().describe('how many'),
      at: index.optional().describe('as it was after this turn'),
      name: text.max(FORK_NAME_MAX).optional().describe('for people'),
      model: text.max(256).optional().describe('another model, as `provider:model`'),
    }),
    output: z.strictObject({ agents: z.array(agentShape) }),
    run: async ({ agentId: id, count: copies = 1, at = null, ...how }, { service, owner }) => {
      const forks = await service.fork(owner, id, { ...how, count: copies, turn: at })
      return { agents: forks.map(agentView) }
    },
  }),
  tool({
    name: 'wasm_agent_stop',
    title: 'Stop an agent',
    description:
      'Stops a WASM agent and the run it is in. Use it to end work that went wrong or costs too much. Files, todos and conversation stay; wasm_agent_resume lifts the stop.',
    category: 'Execute',
    input: z.strictObject({ agentId, reason: text.max(1_000).optional().describe('why') }),
    output: z.strictObject({ success, agentId: text, isStopped: z.boolean(), reason: text }),
    run: async ({ agentId: id, reason = 'asked to stop' }, { service, owner }) => {
      const agent = await service.stop(owner, id, reason)
      const isStopped = agent.summary.stop !== null
      return { success: true, agentId: id, isStopped, reason: agent.summary.stop?.reason ?? '' }
    },
  }),
  tool({
    name: 'wasm_agent_pause',
    title: 'Pause an agent',
    description:
      'Holds a WASM agent between two steps: what was sent ends, nothing new is sent. Use it to look at the agent before it goes on; wasm_agent_resume continues the same run.',
    category: 'Execute',
    input: z.strictObject({
      agentId,
      reason: text.max(1_000).optional().describe('why, for its history'),
    }),
    output: z.strictObject({ success, agentId: text, state: stateShape, runId: text.nullable() }),
    run: async ({ agentId: id, reason = 'asked to pause' }, { service, owner }) => {
      const { state, summary } = await service.pause(owner, id, reason)
      return { success: true, agentId: id, state, runId: summary.runId }
    },
  }),
  tool({
    name: 'wasm_agent_resume',
    title: 'Resume an agent',
    description:
      'Continues a WASM agent after a pause, or after a stop by a limit that is raised here. Use it to go on with the same run; wasm_agent_wait waits for the run that it names.',
    category: 'Execute',
    input: z.strictObject({ agentId, limits: limitsShape.optional().describe('limits to set') }),
    output: z.strictObject({
      success,
      agentId: text,
      isStopped: z.boolean(),
      state: stateShape,
      runId: text.nullable(),
    }),
    run: async ({ agentId: id, limits }, { service, owner, parent }) => {
      const { state, summary } = await service.resume(owner, id, limits ?? {}, { parent })
      const isStopped = state === 'stopped'
      return { success: true, agentId: id, isStopped, state, runId: summary.runId }
    },
  }),
  tool({
    name: 'wasm_agent_reset',
    title: 'Reset an agent',
    description:
      'Clears conversation, todos and turns of a WASM agent; files stay unless `keepFiles` is false. Use it to begin again with the same instructions and limits. What is cleared is lost.',
    category: 'Destructive',
    input: z.strictObject({
      agentId,
      keepFiles: z.boolean().optional().describe('false: clear files'),
    }),
    output: z.strictObject({ success, agentId: text }),
    run: async ({ agentId: id, keepFiles = true }, { service, owner, parent }) => {
      await service.reset(owner, id, keepFiles, { parent })
      return { success: true, agentId: id }
    },
  }),
  tool({
    name: 'wasm_agent_terminate',
    title: 'Remove an agent',
    description:
      'Removes a WASM agent with everything it has: files, todos, conversation and journal. Use it when the agent is no longer needed; export it first if its state is. This cannot be undone.',
    category: 'Destructive',
    input: one,
    output: z.strictObject({ success }),
    run: async ({ agentId: id }, { service, owner }) => {
      await service.terminate(owner, id)
      return { success: true }
    },
  }),
]
