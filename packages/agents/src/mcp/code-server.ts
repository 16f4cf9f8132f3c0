// `run_code` as a server of the gate (`builtin: code`): a client's program runs in a hidden agent of the client's own,
// and what it calls is called in the client's session. A run outlives the connection and the process; its id, or `last`,
// finds its result again. Programs of one session that overlap run in agents of their own.

import { McpServer } from '@modelcontextprotocol/server'
import { processClock } from '@sluice/ledger/store/process-clock'
import type { JsonObject } from '@sluice/policy/values/json'
import { CALL_META, type SessionLabels, toProgramOwner } from '@sluice/protocol/agent-calls'
import { z } from 'zod'
import type { AgentRow } from '../journal/rows.ts'
import { PROGRAM_MODEL } from '../models/program-model.ts'
import type { Service } from '../service/service.ts'
import type { PromptAnswer } from '../service/service-types.ts'
import { AgentError } from '../shared/errors.ts'
import {
  LIST_PAGE_MAX,
  MAX_TURNS_MAX,
  PROGRAM_CODE_LENGTH_MAX,
  PROGRAM_WAIT_MS_DEFAULT,
  PROGRAMS_AT_ONCE_MAX,
  WAIT_MS_MAX,
} from '../shared/limits.ts'
import { parseInput } from '../tools/all-tools.ts'
import { type AgentsCaller, cancellationOf, failure } from './server.ts'

export interface CodeCaller extends AgentsCaller {
  readonly labels: SessionLabels
  /** The key of the session; undefined if an agent calls. */
  readonly sessionKey?: string | undefined
}

const inputShape = z.strictObject({
  code: z.string().min(1).max(PROGRAM_CODE_LENGTH_MAX).optional(),
  runId: z.string().max(130).optional(),
  waitMs: z.int().min(0).max(WAIT_MS_MAX).default(PROGRAM_WAIT_MS_DEFAULT),
})

/** Written by hand: in the mode `code` every client pays for each word of it. */
export const CODE_TOOL = {
  name: 'run_code',
  description:
    'Runs JavaScript until its calls have ended, returns its `return` value. `await tools.SERVER.TOOL(args)` calls a tool or throws: `e.code`. No timers, URL, TextEncoder, structuredClone, crypto, Intl. If status is `waiting`, a person decides: go on with runId.',
  inputSchema: {
    type: 'object' as const,
    properties: {
      code: { type: 'string' },
      runId: { type: 'string' },
      waitMs: { type: 'integer' },
    },
  },
  annotations: { destructiveHint: true, openWorldHint: true },
}

/** Agents that a program was just given to: their rows do not say so yet. */
const taken = new Set<string>()

export function createCodeServer(service: Service, caller: CodeCaller, version: string): McpServer {
  const made = new McpServer({ name: 'sluice-code', version }, { capabilities: { tools: {} } })
  made.server.setRequestHandler('tools/list', () => ({ tools: [CODE_TOOL] }))
  made.server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    try {
      const { code, runId, waitMs } = parseInput(inputShape, params.arguments ?? {})
      if ((code === undefined) === (runId === undefined))
        throw new AgentError('AGENT_INPUT', 'give either `code`, or the `runId` of a program')
      const how = { waitMs, signal: cancellationOf(mcpReq.signal) }
      const requestId = String(params._meta?.[CALL_META])
      const answer =
        runId === undefined
          ? await begin(service, caller, { input: String(code), requestId, ...how })
          : await waitFor(service, caller, runId, how)
      const value = toView(answer)
      const content = [{ type: 'text' as const, text: JSON.stringify(value) }]
      return { content, isError: value.status === 'failed' }
    } catch (error) {
      return failure(error)
    }
  })
  return made
}

/** Removes the agents of sessions that are over: nothing has run in them for as long as a session is kept. */
export async function removeIdlePrograms(service: Service, idleMs: number): Promise<void> {
  const idle = await service.steps.idlePrograms(processClock.nowMs() - idleMs)
  // Another gate may have removed it.
  for (const { owner, id } of idle) await service.terminate(owner, id).catch(() => undefined)
}

interface Waiting {
  readonly waitMs: number
  readonly signal: AbortSignal
}

/** In an idle agent of the session, or a new one; if there are many already, behind another program. */
async function begin(
  service: Service,
  { owner: client, sessionKey: session }: CodeCaller,
  { signal, ...program }: Waiting & { readonly input: string; readonly requestId: string },
): Promise<PromptAnswer> {
  if (session === undefined)
    throw new AgentError('AGENT_INPUT', 'agents have a `run_code` of their own: call that')
  const owner = toProgramOwner(client)
  const own = (await listAgents(service, owner)).filter(
    ({ asked, summary }) => asked.session === session && summary.stop === null,
  )
  const idle = own.find(({ id, summary }) => summary.runId === null && !taken.has(id))
  const config = { model: PROGRAM_MODEL, maxTurns: MAX_TURNS_MAX, limits: { noProgress: null } }
  const free = idle ?? own[PROGRAMS_AT_ONCE_MAX - 1]
  const { id } = free ?? (await service.create(owner, config, { session }))
  taken.add(id)
  try {
    const prompt = { ...program, writer: { agent: id } }
    return await service.prompt(owner, id, prompt, undefined, signal)
  } finally {
    taken.delete(id)
  }
}

async function waitFor(
  service: Service,
  { owner: client, labels, sessionKey }: CodeCaller,
  runId: string,
  { waitMs, signal }: Waiting,
): Promise<PromptAnswer> {
  const owner = toProgramOwner(client)
  const name = runId === 'last' ? await findNewest(service, owner, sessionKey) : runId
  const [agent = '', run = ''] = name.split('.')
  const waiting = service.wait(owner, agent, run, waitMs, undefined, signal)
  const answer = await waiting.catch((error: AgentError) => {
    if (error.code !== 'AGENT_NOT_FOUND' && error.code !== 'AGENT_RUN_MISSING') throw error
    throw new AgentError('AGENT_RUN_MISSING', `no program has the runId \`${name}\`: try \`last\``)
  })
  // It may be a program of another session of the client's.
  labels.see(await service.steps.labelsOf(owner, [agent]))
  return answer
}

/** The newest run of the session; of the client, if the session has none. */
async function findNewest(service: Service, owner: string, session?: string): Promise<string> {
  const all = await listAgents(service, owner)
  const own = all.filter(({ asked }) => asked.session === session)
  const names = (own.length > 0 ? own : all).map(async ({ id }) => {
    const run = await service.steps.run(owner, id, null)
    return [run?.runId ?? '', `${id}.${run?.runId}`] as const
  })
  const [newest] = (await Promise.all(names)).sort(([one], [other]) => (one < other ? 1 : -1))
  if (newest === undefined) throw new AgentError('AGENT_RUN_MISSING', 'no program was run')
  return newest[1]
}

function listAgents({ steps }: Service, owner: string): Promise<AgentRow[]> {
  return steps.list(owner, null, 0, LIST_PAGE_MAX, null)
}

function toView(answer: PromptAnswer): JsonObject {
  const runId = `${answer.agent.id}.${answer.runId}`
  if (answer.state === 'running')
    return { status: 'waiting', runId, waitingFor: answer.agent.summary.waitingFor }
  const { files: _files, ...ended } = readEnd(answer)
  return { status: 'error' in ended ? 'failed' : 'completed', runId, ...ended }
}

function readEnd({ response, stop }: Extract<PromptAnswer, { state: 'ended' }>): JsonObject {
  try {
    return JSON.parse(response) as JsonObject
  } catch {
    // A result that is too long for a conversation is cut there.
    const long = 'its result is too long: return less, or keep it with `files.write(path, text)`'
    const why = response === '' ? `${stop.reason} ${stop.detail}` : long
    return { error: { code: 'PROGRAM_FAILED', message: `the program has ended: ${why}` } }
  }
}
