// The WASM agents for the console: the list for everybody who may look; what an agent says and holds
// only for its owner and admins, and so is prompting, stopping, forking, exporting and importing. What
// an agent calls goes through the gate, regardless of who prompted it.

import { z } from 'zod'
import type { Service } from '../../agents/service/service.ts'
import { AgentError } from '../../agents/shared/errors.ts'
import type { HistoryEntry } from '../../agents/step-thread/operation-results.ts'
import type { Steps } from '../../agents/step-thread/step-client.ts'
import type { Person } from '../../core/person.ts'
import { processClock } from '../../store/process-clock.ts'
import {
  AGENT_CALLS_READ,
  AGENTS_SHOWN,
  FILE_LENGTH_SHOWN,
  JOURNAL_PAGES_READ,
  PROMPT_WAIT_MS,
} from '../contract/console-limits.ts'
import type { AgentStep, AgentTurns } from '../contract/contract-agents.ts'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import { ApiError } from '../http/errors.ts'
import { EventStreamResponse } from '../http/events.ts'
import { findFailure, listTurns } from '../queries/agent-turns.ts'
import type { LedgerReader } from '../queries/ledger-reader.ts'
import { toAgentUsage, toUsageRanges } from '../queries/usage-view.ts'
import { agentEvent, agentPage, agentView, toAgentList } from './agent-views.ts'
import { STRETCH, toStretch } from './stretch.ts'

const TURN = z.strictObject({ turn: z.coerce.number().int().min(0).optional() })
const FILE = TURN.extend({ path: z.string().min(1).max(4_096) })
const PROMPT = z.strictObject({ input: z.string().min(1).max(100_000) })
const STOP = z.strictObject({ reason: z.string().max(1_000) })
const FORK = z.strictObject({ turn: z.int().min(0).nullable() })
const IMPORT = z.strictObject({ owner: z.string().min(1).max(200), agent: z.unknown() })

/** `service`: undefined if the gate runs no agents. */
export function agentsEndpoints(
  service: () => Service | undefined,
  reader: LedgerReader,
): Endpoint[] {
  const running = (): Service => {
    const agents = service()
    if (agents !== undefined) return agents
    throw new ApiError(
      'API_NOT_FOUND',
      'this gate runs no agents',
      'add `agents: { builtin: agents }`',
    )
  }
  /** Acts as the agent's owner, if the role of the person allows it. */
  const own = async <Result>(
    person: Person,
    id: string,
    work: (service: Service, owner: string) => Promise<Result>,
  ): Promise<Result> =>
    withApiErrors(async () => {
      const agents = running()
      const { agent } = await agents.steps.standing(null, id, processClock.nowMs())
      mustOwn(person, agent.owner)
      return work(agents, agent.owner)
    })
  return [
    endpoint({
      method: 'GET',
      path: '/api/agents',
      role: 'viewer',
      summary: 'agents of all owners, the newest first',
      handle: async ({ person }) => {
        const rows = (await service()?.steps.listAll(AGENTS_SHOWN)) ?? []
        const agents = toAgentList(rows, (owner) => owns(person, owner))
        return { running: service() !== undefined, agents }
      },
    }),
    endpoint({
      method: 'GET',
      path: '/api/usage',
      role: 'viewer',
      query: STRETCH,
      summary: 'tokens and cost of a stretch of time by model, and of the one before (AgentUsage)',
      handle: async ({ query }) => {
        const stretch = toStretch(query, processClock.nowMs())
        const report = await running().steps.modelUsage(toUsageRanges(stretch))
        return toAgentUsage(stretch, report)
      },
    }),
    endpoint({
      method: 'GET',
      path: '/api/agents/:id',
      role: 'viewer',
      query: TURN,
      summary: 'one agent, now or as it was after a turn',
      handle: ({ params, query, person }) =>
        own(person, params.id ?? '', async ({ steps }) => {
          const turn = query.turn ?? null
          return agentPage(await steps.look(params.id ?? '', turn, processClock.nowMs()), turn)
        }),
    }),
    endpoint({
      method: 'GET',
      path: '/api/agents/:id/events',
      role: 'viewer',
      summary: 'the journal of an agent, event by event',
      handle: ({ params, person }) =>
        own(person, params.id ?? '', async ({ steps }, owner) => {
          const entries = await readJournal(steps, owner, params.id ?? '')
          return { events: entries.map(agentEvent) }
        }),
    }),
    endpoint({
      method: 'GET',
      path: '/api/agents/:id/turns',
      role: 'viewer',
      summary: 'the turns of an agent: times, tokens, cost, and its calls on record',
      handle: ({ params, person }) =>
        own(person, params.id ?? '', async ({ steps }, owner): Promise<AgentTurns> => {
          const id = params.id ?? ''
          const { agent } = await steps.standing(owner, id, processClock.nowMs())
          const history = await readJournal(steps, owner, id)
          const query = { agent: id, limit: AGENT_CALLS_READ }
          const { calls, behind } = await reader.ask('page', query as never)
          return {
            turns: listTurns(agent, history, calls),
            failure: findFailure(history),
            behind,
          }
        }),
    }),
    endpoint({
      method: 'GET',
      path: '/api/agents/:id/watch',
      role: 'viewer',
      summary: 'what an agent does, as it comes: events `text` and `step` (AgentStep)',
      handle: ({ params, person }) =>
        own(
          person,
          params.id ?? '',
          async (agents) =>
            new EventStreamResponse((feed) =>
              agents.watch.follow(params.id ?? '', {
                onEvent: ({ kind, turn }) => feed.send('step', { kind, turn } satisfies AgentStep),
                onText: (text) => feed.send('text', text),
              }),
            ),
        ),
    }),
    endpoint({
      method: 'GET',
      path: '/api/agents/:id/file',
      role: 'viewer',
      query: FILE,
      summary: 'a file of an agent, as text, now or as it was after a turn',
      handle: ({ params, query, person }) =>
        own(person, params.id ?? '', async ({ steps }) => {
          const { path, turn = null } = query
          const id = params.id ?? ''
          const { isText, text } = await steps.fileAt(id, path, turn, processClock.nowMs())
          return { path, isText, text: text.slice(0, FILE_LENGTH_SHOWN) }
        }),
    }),
    endpoint({
      method: 'POST',
      path: '/api/agents/:id/prompt',
      role: 'viewer',
      body: PROMPT,
      summary: 'give an agent something to do; the run goes on after the answer',
      handle: ({ params, body, person }) =>
        own(person, params.id ?? '', async (agents, owner) => {
          // The holder of a token may be an agent: its text is not what the user said.
          const writer = { kind: person.proof === 'token' ? 'model' : 'person' } as const
          const prompt = { input: body.input, waitMs: PROMPT_WAIT_MS, writer }
          const { state } = await agents.prompt(owner, params.id ?? '', prompt)
          return { state }
        }),
    }),
    endpoint({
      method: 'POST',
      path: '/api/agents/:id/stop',
      role: 'viewer',
      body: STOP,
      summary: 'stop an agent and whatever it is doing',
      handle: ({ params, body, person }) =>
        own(person, params.id ?? '', async (agents, owner) =>
          agentView(await agents.stop(owner, params.id ?? '', body.reason), true),
        ),
    }),
    endpoint({
      method: 'POST',
      path: '/api/agents/:id/pause',
      role: 'viewer',
      body: STOP,
      summary: 'send nothing more for an agent until it is resumed',
      handle: ({ params, body, person }) =>
        own(person, params.id ?? '', async (agents, owner) =>
          agentView(await agents.pause(owner, params.id ?? '', body.reason), true),
        ),
    }),
    endpoint({
      method: 'POST',
      path: '/api/agents/:id/resume',
      role: 'viewer',
      summary: 'go on with an agent that was paused or stopped',
      handle: ({ params, person }) =>
        own(person, params.id ?? '', async (agents, owner) =>
          agentView(await agents.resume(owner, params.id ?? '', {}), true),
        ),
    }),
    endpoint({
      method: 'POST',
      path: '/api/agents/:id/fork',
      role: 'viewer',
      body: FORK,
      summary: 'a copy that goes its own way, of now or of an earlier turn',
      handle: ({ params, body, person }) =>
        own(person, params.id ?? '', async (agents, owner) => {
          const [fork] = await agents.fork(owner, params.id ?? '', 1, body.turn)
          return { id: fork?.id ?? '' }
        }),
    }),
    endpoint({
      method: 'GET',
      path: '/api/agents/:id/export',
      role: 'viewer',
      summary: 'an agent as JSON, secrets redacted',
      handle: ({ params, person }) =>
        own(person, params.id ?? '', async (agents, owner) => {
          const { exported } = await agents.export(owner, params.id ?? '', 'json', 'redact')
          return { ...exported }
        }),
    }),
    endpoint({
      method: 'POST',
      path: '/api/agents',
      role: 'viewer',
      body: IMPORT,
      summary: 'bring an exported agent in, for one of the principals one owns',
      handle: ({ body, person }) =>
        withApiErrors(async () => {
          mustOwn(person, body.owner)
          const { agent } = await running().import(body.owner, body.agent)
          return { id: agent.id }
        }),
    }),
  ]
}

function owns({ roles, owns: principals }: Person, owner: string): boolean {
  return roles.includes('admin') || principals.includes(owner)
}

function mustOwn(person: Person, owner: string): void {
  if (owns(person, owner)) return
  const why = `\`${person.name}\` does not own this agent`
  throw new ApiError('API_ROLE', why, 'its owner or an admin may')
}

/** All that is left of it, as far as it fits. */
async function readJournal(
  { history }: Pick<Steps, 'history'>,
  owner: string,
  id: string,
): Promise<HistoryEntry[]> {
  const entries: HistoryEntry[] = []
  for (let page = 0; page < JOURNAL_PAGES_READ; page++) {
    const next = await history(owner, id, (entries.at(-1)?.seq ?? 0) + 1, null)
    if (next.length === 0) break
    entries.push(...next)
  }
  return entries
}

/** What agents refuse is the asker's to know. */
async function withApiErrors<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof AgentError)) throw error
    const code = error.code === 'AGENT_NOT_FOUND' ? 'API_NOT_FOUND' : 'API_REFUSED'
    throw new ApiError(code, error.message, 'see docs/concepts/agents.md')
  }
}
