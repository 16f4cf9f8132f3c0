// The WASM agents for the console: the list for everybody who may look; what an agent says and holds
// only for its owner and admins, and so is prompting, stopping, forking, exporting and importing. What
// an agent calls goes through the gate, regardless of who prompted it.

import { z } from 'zod'
import type { Service } from '../../agents/service/service.ts'
import { AgentError } from '../../agents/shared/errors.ts'
import type { Person } from '../../core/person.ts'
import { processClock } from '../../store/process-clock.ts'
import { AGENTS_SHOWN, FILE_LENGTH_SHOWN, PROMPT_WAIT_MS } from '../contract/console-limits.ts'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import { ApiError } from '../http/errors.ts'
import { agentEvent, agentPage, agentView } from './agent-views.ts'

const TURN = z.strictObject({ turn: z.coerce.number().int().min(0).optional() })
const FILE = z.strictObject({ path: z.string().min(1).max(4_096) })
const PROMPT = z.strictObject({ input: z.string().min(1).max(100_000) })
const STOP = z.strictObject({ reason: z.string().max(1_000) })
const FORK = z.strictObject({ turn: z.int().min(0).nullable() })
const IMPORT = z.strictObject({ owner: z.string().min(1).max(200), agent: z.unknown() })

/** `service`: undefined where the gate runs no agents. */
export function agentsEndpoints(service: () => Service | undefined): Endpoint[] {
  const running = (): Service => {
    const found = service()
    if (found !== undefined) return found
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
      ...{ method: 'GET', path: '/api/agents', role: 'viewer' },
      summary: 'agents of all owners, the newest first',
      handle: async () => {
        const rows = (await service()?.steps.listAll(AGENTS_SHOWN)) ?? []
        return { running: service() !== undefined, agents: rows.map(agentView) }
      },
    }),
    endpoint({
      ...{ method: 'GET', path: '/api/agents/:id', role: 'viewer', query: TURN },
      summary: 'one agent, now or as it was after a turn',
      handle: ({ params, query, person }) =>
        own(person, params.id ?? '', async ({ steps }) => {
          const turn = query.turn ?? null
          return agentPage(await steps.look(params.id ?? '', turn, processClock.nowMs()), turn)
        }),
    }),
    endpoint({
      ...{ method: 'GET', path: '/api/agents/:id/events', role: 'viewer' },
      summary: 'the journal of an agent, event by event',
      handle: ({ params, person }) =>
        own(person, params.id ?? '', async ({ steps }, owner) => {
          const entries = await steps.history(owner, params.id ?? '', 1, null)
          return { events: entries.map(agentEvent) }
        }),
    }),
    endpoint({
      ...{ method: 'GET', path: '/api/agents/:id/file', role: 'viewer', query: FILE },
      summary: 'a file of an agent, as text',
      handle: ({ params, query, person }) =>
        own(person, params.id ?? '', async ({ steps }, owner) => {
          const found = await steps.files(owner, params.id ?? '', query, processClock.nowMs())
          const file = found.files[0]
          if (file?.content === undefined)
            throw new ApiError('API_NOT_FOUND', 'the agent has no such file', 'list its files')
          const bytes = Buffer.from(file.content)
          const text = file.isText ? bytes.toString('utf8') : bytes.toString('base64')
          return { path: query.path, isText: file.isText, text: text.slice(0, FILE_LENGTH_SHOWN) }
        }),
    }),
    endpoint({
      ...{ method: 'POST', path: '/api/agents/:id/prompt', role: 'viewer', body: PROMPT },
      summary: 'give an agent something to do; the run goes on after the answer',
      handle: ({ params, body, person }) =>
        own(person, params.id ?? '', async (agents, owner) => {
          const given = { input: body.input, waitMs: PROMPT_WAIT_MS }
          const { state } = await agents.prompt(owner, params.id ?? '', given)
          return { state }
        }),
    }),
    endpoint({
      ...{ method: 'POST', path: '/api/agents/:id/stop', role: 'viewer', body: STOP },
      summary: 'stop an agent and whatever it is doing',
      handle: ({ params, body, person }) =>
        own(person, params.id ?? '', async (agents, owner) =>
          agentView(await agents.stop(owner, params.id ?? '', body.reason)),
        ),
    }),
    endpoint({
      ...{ method: 'POST', path: '/api/agents/:id/fork', role: 'viewer', body: FORK },
      summary: 'a copy that goes its own way, of now or of an earlier turn',
      handle: ({ params, body, person }) =>
        own(person, params.id ?? '', async (agents, owner) => {
          const [fork] = await agents.fork(owner, params.id ?? '', 1, body.turn)
          return { id: fork?.id ?? '' }
        }),
    }),
    endpoint({
      ...{ method: 'GET', path: '/api/agents/:id/export', role: 'viewer' },
      summary: 'an agent as JSON, secrets redacted',
      handle: ({ params, person }) =>
        own(person, params.id ?? '', async (agents, owner) => {
          const { exported } = await agents.export(owner, params.id ?? '', 'json', 'redact')
          return { ...exported }
        }),
    }),
    endpoint({
      ...{ method: 'POST', path: '/api/agents', role: 'viewer', body: IMPORT },
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

function mustOwn({ name, roles, owns }: Person, owner: string): void {
  if (roles.includes('admin') || owns.includes(owner)) return
  throw new ApiError('API_ROLE', `\`${name}\` does not own this agent`, 'its owner or an admin may')
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
