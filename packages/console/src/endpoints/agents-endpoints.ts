// The WASM agents for the console: the list for everybody who may look; what an agent says and holds
// only for its owner and admins, and so is prompting, stopping, forking, exporting and importing. What
// an agent calls goes through the gate, regardless of who prompted it.

import { COUNT, orNull } from '@sluice/access/identity/answer-shapes'
import type { Person } from '@sluice/access/identity/person'
import type { Service } from '@sluice/agents/service/service'
import { AgentError } from '@sluice/agents/shared/errors'
import { FORK_NAME_MAX } from '@sluice/agents/shared/limits'
import type { HistoryEntry } from '@sluice/agents/step-thread/operation-results'
import type { Steps } from '@sluice/agents/step-thread/step-client'
import { callTool } from '@sluice/agents/tools/all-tools'
import { compareTurns } from '@sluice/agents/tools/compare-turns'
import { Gallery } from '@sluice/agents/tools/gallery'
import { scheduleView } from '@sluice/agents/tools/schedule-tools'
import { historyView } from '@sluice/agents/tools/views'
import { processClock } from '@sluice/ledger/store/process-clock'
import { required, text, textOrEmpty } from '@sluice/policy/document/build-shape'
import type { FieldValues, ShapeFields } from '@sluice/policy/document/shape'
import { type Endpoint, endpoint, type Route } from '../http/endpoint.ts'
import { ApiError } from '../http/errors.ts'
import { EventStreamResponse } from '../http/events.ts'
import {
  type AgentTurns,
  type DigestArguments,
  findFailure,
  listTurns,
} from '../queries/agent-turns.ts'
import type { LedgerReader } from '../queries/ledger-reader.ts'
import {
  AGENT_CALLS_READ,
  AGENTS_SHOWN,
  FILE_LENGTH_SHOWN,
  FORK_ORIGINS_READ,
  JOURNAL_PAGES_READ,
  PROMPT_WAIT_MS,
} from '../queries/limits.ts'
import { toAgentUsage, toUsageRanges } from '../queries/usage-view.ts'
import { agentEvent, agentPage, agentView, originOf, toAgentList } from './agent-views.ts'
import { STRETCH, toStretch } from './stretch.ts'

const TURN = { turn: { shape: COUNT, doc: 'as it was after this turn' } } as const
const FILE = {
  ...TURN,
  path: required(text(4_096), 'which file'),
} as const
const OWNER = required(text(200), 'whose it is to be')
const REASON = { reason: required(textOrEmpty(1_000), 'in its journal') } as const

/** The calls of agents in the audit log. */
interface AgentRecords {
  readonly reader: LedgerReader
  readonly digestsOf: DigestArguments
}

/** `service`: undefined if the gate runs no agents. */
export function agentsEndpoints(
  service: () => Service | undefined,
  records: AgentRecords,
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
  return [
    endpoint('GET /api/agents', {
      role: 'viewer',
      summary: 'agents of all owners, the newest first',
      handle: async ({ person }) => {
        const rows = (await service()?.steps.listAll(AGENTS_SHOWN)) ?? []
        const agents = toAgentList(rows, (owner) => owns(person, owner))
        return { running: service() !== undefined, agents }
      },
    }),
    endpoint('GET /api/usage', {
      role: 'viewer',
      input: STRETCH,
      summary: 'tokens and cost of a stretch of time by model, and of the one before (AgentUsage)',
      handle: async ({ input }) => {
        const stretch = toStretch(input, processClock.nowMs())
        const report = await running().steps.modelUsage(toUsageRanges(stretch))
        return toAgentUsage(stretch, report)
      },
    }),
    endpoint('GET /api/agent-tools', {
      role: 'viewer',
      input: { owner: OWNER },
      summary:
        'the tools of the gate that an agent of a principal can be given, with their classes',
      handle: ({ input: { owner }, person }) =>
        withApiErrors(async () => {
          mustOwn(person, owner)
          const tools = await running().listTools(owner)
          return { tools: tools.map(({ server, name, category }) => ({ server, name, category })) }
        }),
    }),
    endpoint('POST /api/agents', {
      role: 'viewer',
      input: {
        owner: OWNER,
        agent: { shape: { kind: 'any' }, doc: 'the arguments of `wasm_agent_create`' },
      },
      summary: 'create an agent for one of the principals one owns',
      handle: ({ input: { owner, agent }, person }) =>
        withApiErrors(async () => {
          mustOwn(person, owner)
          const made = await callAgentsTool('wasm_agent_create', Object(agent), running(), owner)
          return { id: String(Object(Object(made).agent).id) }
        }),
    }),
    endpoint('POST /api/agents/import', {
      role: 'viewer',
      input: {
        owner: OWNER,
        agent: { shape: { kind: 'any' }, doc: 'as it was exported' },
      },
      summary: 'bring an exported agent in, for one of the principals one owns',
      handle: ({ input: { owner, agent: exported }, person }) =>
        withApiErrors(async () => {
          mustOwn(person, owner)
          const { agent } = await running().import(owner, exported)
          return { id: agent.id }
        }),
    }),
    ...lookEndpoints(running, records),
    ...actEndpoints(running),
  ]
}

/** What an agent says and holds. */
function lookEndpoints(running: () => Service, records: AgentRecords): Endpoint[] {
  return [
    ownEndpoint(running, 'GET /api/agents/:id', {
      input: TURN,
      summary: 'one agent, now or as it was after a turn',
      work: async ({ steps }, { id, turn = null }) =>
        agentPage(await steps.look(null, id, turn, processClock.nowMs()), turn),
    }),
    ownEndpoint(running, 'GET /api/agents/:id/events', {
      summary: 'the journal of an agent, event by event',
      work: async ({ steps }, { id }, { owner }) => {
        const entries = await readJournal(steps, owner, id)
        return { events: entries.map(agentEvent) }
      },
    }),
    ownEndpoint(running, 'GET /api/agents/:id/turns', {
      summary: 'the turns of an agent: times, tokens, cost, and its calls on record',
      work: ({ steps }, { id }, { owner }) => readTurns({ ...records, steps, owner }, id),
    }),
    ownEndpoint(running, 'GET /api/agents/:id/watch', {
      summary: 'what an agent does, as it comes: events `text` and `step`',
      work: async ({ watch }, { id }) =>
        new EventStreamResponse((feed) =>
          watch.follow(id, {
            onEvent: ({ kind, turn }) => feed.send('step', { kind, turn }),
            onText: (said) => feed.send('text', said),
          }),
        ),
    }),
    ownEndpoint(running, 'GET /api/agents/:id/file', {
      input: FILE,
      summary: 'a file of an agent, as text, now or as it was after a turn',
      work: async ({ steps }, { id, path, turn = null }) => {
        const file = await steps.fileAt(null, id, path, turn, processClock.nowMs())
        return { path, isText: file.isText, text: file.text.slice(0, FILE_LENGTH_SHOWN) }
      },
    }),
    ownEndpoint(running, 'GET /api/agents/:id/compare', {
      input: { with: required(text(64), 'the other agent') },
      summary: 'the first turn in which two agents differ, and what each has used',
      work: async ({ steps }, { id, with: other }, { owner }) => {
        const linesOf = async (each: string) => {
          const { agent } = await steps.standing(owner, each, processClock.nowMs())
          const entries = await readJournal(steps, owner, each)
          return entries.map((entry) => historyView(entry, { price: agent.price }))
        }
        return compareTurns(await linesOf(id), await linesOf(other))
      },
    }),
    ownEndpoint(running, 'GET /api/agents/:id/schedules', {
      summary: 'the schedules of an agent: their next time, and what became of the last',
      work: async ({ steps }, { id }, { owner }) => {
        const rows = await steps.schedules(owner, null)
        const own = rows.filter(({ agent }) => agent === id)
        return { schedules: own.map((row) => scheduleView(row)) }
      },
    }),
    ownEndpoint(running, 'GET /api/agents/:id/export', {
      summary: 'an agent as JSON, secrets redacted',
      work: async (agents, { id }, { owner }) => {
        const { exported } = await agents.export(owner, id, 'json', 'redact')
        return { ...exported }
      },
    }),
  ]
}

function actEndpoints(running: () => Service): Endpoint[] {
  return [
    ownEndpoint(running, 'POST /api/agents/:id/prompt', {
      input: {
        input: required(text(100_000), 'what to do'),
      },
      summary: 'give an agent something to do; the run goes on after the answer',
      work: async (agents, { id, input }, { owner, person }) => {
        // The holder of a token may be an agent: its text is not what the user said.
        const writer = { kind: person.proof === 'token' ? 'model' : 'person' } as const
        const { state } = await agents.prompt(owner, id, { input, waitMs: PROMPT_WAIT_MS, writer })
        return { state }
      },
    }),
    ownEndpoint(running, 'POST /api/agents/:id/stop', {
      input: REASON,
      summary: 'stop an agent and whatever it is doing',
      work: async (agents, { id, reason }, { owner }) =>
        agentView(await agents.stop(owner, id, reason), true),
    }),
    ownEndpoint(running, 'POST /api/agents/:id/pause', {
      input: REASON,
      summary: 'send nothing more for an agent until it is resumed',
      work: async (agents, { id, reason }, { owner }) =>
        agentView(await agents.pause(owner, id, reason), true),
    }),
    ownEndpoint(running, 'POST /api/agents/:id/resume', {
      summary: 'go on with an agent that was paused or stopped',
      work: async (agents, { id }, { owner }) =>
        agentView(await agents.resume(owner, id, {}), true),
    }),
    ownEndpoint(running, 'POST /api/agents/:id/schedule', {
      input: {
        schedule: { shape: { kind: 'any' }, doc: 'the other arguments of `wasm_agent_schedule`' },
      },
      summary: 'prompt an agent at set times; a schedule of the same name is replaced',
      work: (agents, { id, schedule }, { owner }) =>
        callAgentsTool('wasm_agent_schedule', { ...Object(schedule), agentId: id }, agents, owner),
    }),
    ownEndpoint(running, 'POST /api/agents/:id/unschedule', {
      input: { name: required(text(64), 'of the schedule') },
      summary: 'remove a schedule of an agent',
      work: async (agents, { id, name }, { owner }) => {
        await agents.unschedule(owner, id, name)
        return { name }
      },
    }),
    ownEndpoint(running, 'POST /api/agents/:id/fork', {
      input: {
        model: { shape: textOrEmpty(256), doc: 'another model; that of the agent without it' },
        turn: required(orNull(COUNT), 'of this turn; null for now'),
        name: { shape: textOrEmpty(FORK_NAME_MAX), doc: 'what people call it' },
      },
      summary: 'a copy that goes its own way, of now or of an earlier turn',
      work: async (agents, { id, turn, name, model }, { owner }) => {
        const [fork] = await agents.fork(owner, id, { turn, name, model: model || undefined })
        return { id: fork?.id ?? '' }
      },
    }),
  ]
}

/** Calls a tool of agents as a principal: its arguments are checked as those of any caller. */
function callAgentsTool(
  name: string,
  args: object,
  service: Service,
  owner: string,
): Promise<object> {
  const gallery = new Gallery(service.steps)
  const { signal } = new AbortController()
  return callTool(name, args, {
    service,
    gallery,
    owner,
    parent: undefined,
    signal,
    onProgress: undefined,
  })
}

/** Acts as the agent's owner, if the role of the person allows it. */
function ownEndpoint<const Fields extends ShapeFields = Record<never, never>>(
  running: () => Service,
  route: Route,
  row: {
    readonly input?: Fields
    readonly summary: string
    readonly work: (
      agents: Service,
      input: FieldValues<Fields> & { readonly id: string },
      as: { readonly owner: string; readonly person: Person },
    ) => Promise<object>
  },
): Endpoint {
  const { work, ...rest } = row
  return endpoint<'GET /api/agents/:id', Fields>(route as 'GET /api/agents/:id', {
    ...rest,
    role: 'viewer',
    handle: ({ input, person }) =>
      withApiErrors(async () => {
        const agents = running()
        const { agent } = await agents.steps.standing(null, input.id, processClock.nowMs())
        mustOwn(person, agent.owner)
        return work(agents, input, { owner: agent.owner, person })
      }),
  })
}

function owns({ roles, owns: principals }: Person, owner: string): boolean {
  return roles.includes('admin') || principals.includes(owner)
}

function mustOwn(person: Person, owner: string): void {
  if (owns(person, owner)) return
  const why = `\`${person.name}\` does not own this agent`
  throw new ApiError('API_ROLE', why, 'its owner or an admin may')
}

/** Its own, and before them those of the agent that it is a fork of, if that is still there. */
async function readTurns(
  from: AgentRecords & { readonly steps: Steps; readonly owner: string },
  id: string,
  origins = FORK_ORIGINS_READ,
): Promise<AgentTurns> {
  const { digestsOf, steps, reader, owner } = from
  const { agent } = await steps.standing(owner, id, processClock.nowMs())
  const origin = originOf(agent)
  const isRead = origin !== null && origins > 0
  const before = isRead && (await readTurns(from, origin.id, origins - 1).catch(() => null))
  const shared = before ? before.turns.filter(({ turn }) => turn <= Number(origin?.turn)) : []
  const history = await readJournal(steps, owner, id)
  const query = { agent: id, limit: AGENT_CALLS_READ }
  const { calls, behind } = await reader.ask('page', query)
  const turns = [...shared, ...listTurns(agent, history, calls, digestsOf)]
  return { turns, failure: findFailure(history), behind }
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
