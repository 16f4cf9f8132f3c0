// Servers, their tools and their pins: how each is, what it offers and how risky that is, the
// catalogue's page of a tool, definitions that wait for a person. Accepting and refusing one are
// operations (operations/pins.ts).

import { basename } from 'node:path'
import { assessTool, classify } from '@sluice/catalogue/classify/classify'
import { getAssessment } from '@sluice/catalogue/pages/assessment-cache'
import { toolPage } from '@sluice/catalogue/pages/tool-page'
import type { ServerConfig } from '@sluice/gateway/config/config'
import { LOCAL_POLICY } from '@sluice/gateway/config/grants'
import { readServerTools } from '@sluice/gateway/front/sessions/list-tools'
import type { ServerFacts } from '@sluice/gateway/operations/status'
import { enterStep } from '@sluice/gateway/shared/current-step'
import { Slices } from '@sluice/gateway/shared/slices'
import type { AdminParts } from '@sluice/gateway/start/run-admin'
import { type PendingServer, withoutValues } from '@sluice/gateway/state/servers'
import type { ServerFailure } from '@sluice/gateway/tools/server-notes'
import { markdownOf } from '@sluice/guard/show/page-markdown'
import { type KnownTool, type ToolDefinition, toToolId } from '@sluice/policy/calls/tools'
import { getRulesForTool } from '@sluice/policy/decide/resolve'
import { required, text } from '@sluice/policy/document/build-shape'
import type { ApplicableRules } from '@sluice/policy/model/applicable-rules'
import { countEach } from '@sluice/policy/structures/count-each'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import { ApiError } from '../http/errors.ts'
import type { BoardTool } from '../queries/board.ts'
import type { LedgerReader } from '../queries/ledger-reader.ts'
import { DEFINITION_LENGTH_SHOWN, NEIGHBOURS_MAX } from '../queries/limits.ts'
import { toIndentedJson, viewPendingDefinitions } from './pending-definitions.ts'

export interface ServersEndpointParts {
  readonly parts: AdminParts
  readonly reader: LedgerReader
}

/** `GET /api/servers`. */
export interface ServersView {
  readonly servers: readonly ServerView[]
  readonly pending: readonly PendingServerView[]
  /** Why processes of servers are not isolated; empty if they are. */
  readonly unconfined: string
}

/** How a server is now. */
export interface ServerState {
  readonly state: 'up' | 'idle' | 'starting' | 'failing' | 'needs login' | 'frozen'
  /** Why it fails or is frozen; else empty. */
  readonly why: string
}

/** How a server is, and what it offers. */
export interface ServerView extends ServerState, ServerFacts {
  /** The program or the address, without what is secret. */
  readonly where: string
  readonly tools: number
  /** The tools were listed since the gate started. */
  readonly listed: boolean
  /** A client has hooks that an older version of Sluice wrote. */
  readonly oldHooks: boolean
  /** How many tools appeared after the first list and were not looked at yet. */
  readonly new: number
  /** How many definitions are neither listed nor called because a person has to accept them. */
  readonly held: number
  /** How many of `held` were not refused either. */
  readonly undecided: number
}

/** An entry that another program wrote: it is accepted at a terminal before it is started. */
export interface PendingServerView {
  readonly name: string
  /** Where the entry came from. */
  readonly how: PendingServer['how']
  /** The entry as JSON, without values that may be secret. */
  readonly entry: string
  /** What a person does to put it in force. */
  readonly help: string
}

/** A row of `GET /api/tools`. */
export interface ToolView
  extends Pick<BoardTool, 'server' | 'name' | 'category' | 'unknown' | 'risk' | 'verdict'> {
  /** Its definition waits for a person. */
  readonly held: boolean
  /** Who refused the definition that waits; null if nobody did. */
  readonly refusedBy: string | null
  /** When it appeared on a server that was known before, until a person has seen it; else null. */
  readonly newMs: number | null
}

/** `GET /api/tool`: the catalogue's page. The words of the definition are the server's. */
export interface ToolPage {
  readonly server: string
  readonly name: string
  /** The category that the policy of the local user decides by. */
  readonly category: string
  /** The category of the catalogue, if the policy says another; else null. */
  readonly inCatalogue: string | null
  /** The category is a guess, and so is the risk. */
  readonly unknown: boolean
  readonly risk: KnownTool['risk']
  readonly title: string
  readonly description: string
  /** As JSON. */
  readonly inputSchema: string
  /** As JSON. */
  readonly annotations: string
  /** How sure the catalogue is of the category. */
  readonly confidence: number
  readonly riskBecause: string
  /** What the category was read from, and where in the definition. */
  readonly evidence: readonly {
    readonly text: string
    readonly at: string
    readonly says: string
  }[]
  /** Where what the server says about the tool does not fit its definition. */
  readonly disagreements: readonly string[]
  /** The catalogue's page as Markdown; it is shown as text. */
  readonly page: string
}

const TOOL = {
  server: required(text(64), 'its server'),
  name: required(text(1_000), 'which tool'),
} as const

export function serversEndpoints({ parts, reader }: ServersEndpointParts): Endpoint[] {
  const { gate, pins, policies } = parts
  const nameServer = (name: string): string => {
    if (parts.servers.find(name) !== undefined) return name
    throw new ApiError('API_NOT_FOUND', `no server is called \`${name}\``, 'see /api/servers')
  }
  return [
    endpoint('GET /api/servers', {
      role: 'viewer',
      summary: 'how each server is',
      handle: () => viewServers(parts),
    }),
    endpoint('GET /api/tools', {
      role: 'viewer',
      summary: 'every tool that was listed, with class, risk and what a plain call gets',
      handle: async () => ({ tools: await toolViews(parts, reader) }),
    }),
    endpoint('GET /api/tool', {
      role: 'viewer',
      input: TOOL,
      summary: 'the catalogue’s page of one tool; the words of its definition are its server’s',
      handle: async ({ input: { server, name } }) => {
        const known = gate.toolsOf(server)
        const found = known.get(name)
        const definition = found?.definition ?? pins.acceptedOf(server, name)
        if (definition === undefined)
          throw new ApiError('API_NOT_FOUND', 'no server has listed this tool', 'see /api/tools')
        // As the gate decides by it: the hints of a built-in server hold, and `classify` of the policy.
        const tool = found ?? { definition, ...classify(definition) }
        const scope = getRulesForTool(policies.now.local.policy, tool)
        return pageOf(tool, scope, await assessNeighbours(known))
      },
    }),
    endpoint('POST /api/servers/:name/tools', {
      role: 'policy-manager',
      summary: 'start the server if it does not run, and read its tools',
      handle: ({ input }) => listTools(parts, nameServer(input.name)),
    }),
    endpoint('POST /api/servers/:name/seen', {
      role: 'policy-manager',
      summary: 'the new tools of the server were looked at: they are no longer marked',
      handle: ({ input }) => ({ seen: parts.newTools.markSeen(nameServer(input.name)) }),
    }),
    endpoint('GET /api/pins', {
      role: 'viewer',
      summary: 'definitions that wait for a person, with what has changed',
      handle: () => viewPendingDefinitions(pins),
    }),
  ]
}

async function viewServers(parts: AdminParts): Promise<ServersView> {
  await parts.tools.flushInTurns()
  const unconfined = parts.isolation.why ?? ''
  return { servers: serverViews(parts), pending: pendingViews(parts), unconfined }
}

async function toolViews(parts: AdminParts, reader: LedgerReader): Promise<ToolView[]> {
  const { policies, pins, tools, newTools } = parts
  await tools.flushInTurns()
  const documents = [...policies.documents]
  const placed = await reader.ask('tools', { documents, name: LOCAL_POLICY })
  const pending = new Map(pins.pending.map((one) => [toToolId(one.tool), one] as const))
  const fresh = new Map(
    newTools.list().map(({ server, name, atMs }) => [`${server}/${name}`, atMs]),
  )
  return placed.map(({ server, name, category, unknown, risk, verdict }) => {
    const id = `${server}/${name}`
    const held = pending.get(id)
    const refusedBy = held?.refused?.by ?? null
    const tool = { server, name, category, unknown, risk, verdict }
    return { ...tool, held: held !== undefined, refusedBy, newMs: fresh.get(id) ?? null }
  })
}

async function listTools({ gate, tools }: AdminParts, server: string) {
  await readServerTools(server, (...args) => gate.open(...args)).catch(({ message }: Error) => {
    throw new ApiError(
      'API_REFUSED',
      `\`${server}\` listed no tools: ${message}`,
      'see its card, and the log of the gate',
    )
  })
  await tools.flushInTurns()
  return { server, tools: tools.counts().get(server) ?? 0 }
}

/** The other tools that its page tells of. None of a server with very many, which would take seconds. */
async function assessNeighbours(
  known: ReadonlyMap<string, KnownTool>,
): Promise<readonly ToolDefinition[]> {
  if (known.size > NEIGHBOURS_MAX) return []
  const slices = new Slices()
  const neighbours: ToolDefinition[] = []
  for (const { definition } of known.values()) {
    if (slices.isOver) await slices.next()
    enterStep('command')
    getAssessment(definition)
    neighbours.push(definition)
  }
  return neighbours
}

function pageOf(
  { definition, category, risk, unknown }: KnownTool,
  scope: ApplicableRules,
  neighbours: readonly ToolDefinition[],
): ToolPage {
  const { server, name, title, description, inputSchema, annotations } = definition
  const assessment = assessTool(definition)
  return {
    server,
    name,
    category: scope.category,
    inCatalogue: scope.classified ? category : null,
    unknown: unknown === true && !scope.classified,
    risk,
    title: toBoundedText(title),
    description: toBoundedText(description),
    inputSchema: toIndentedJson(inputSchema),
    annotations: toIndentedJson(annotations),
    confidence: assessment.confidence,
    riskBecause: assessment.riskBecause,
    evidence: assessment.evidence.map(({ text, at, says }) => ({ text, at, says })),
    disagreements: assessment.disagreements,
    page: markdownOf(toolPage(definition, { neighbours })).slice(0, DEFINITION_LENGTH_SHOWN),
  }
}

/** A server may put anything where a text belongs. */
function toBoundedText(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, DEFINITION_LENGTH_SHOWN) : ''
}

/**
 * How each server is, for people: up, idle, starting, failing and why, frozen, or without a login;
 * where it is reached, without what is secret.
 */
function serverViews(parts: AdminParts): ServerView[] {
  const { servers, gate, pins, freezes } = parts
  const tools = parts.tools.counts()
  const fresh = countByServer(parts.newTools.list())
  const held = countByServer(pins.pending.map(({ tool }) => tool.definition))
  const undecided = countByServer(
    pins.pending.filter(({ refused }) => refused === undefined).map(({ tool }) => tool.definition),
  )
  return servers.entries.map(([name, server]) => {
    const figures = gate.figures(name)
    const frozen = freezes.of({ server: name, principal: '', agent: null })
    const failure = gate.notes.failureOf(name)
    const isListed = gate.toolsOf(name).size > 0
    return {
      name,
      kind: server.kind,
      where: whereOf(server),
      sandbox: parts.isolation.describe(server),
      credential: parts.credentials.describe(name, server),
      refusedHosts: parts.isolation.refusedBy(name),
      ...stateOf(figures, isListed, failure, frozen?.why),
      ...figures,
      tools: tools.get(name) ?? 0,
      listed: isListed,
      oldHooks: gate.notes.hasOldHooks(name),
      new: fresh.get(name) ?? 0,
      held: held.get(name) ?? 0,
      undecided: undecided.get(name) ?? 0,
    }
  })
}

function countByServer(tools: readonly { readonly server: string }[]): ReadonlyMap<string, number> {
  return countEach(tools.map(({ server }) => server))
}

function pendingViews({ servers }: AdminParts): PendingServerView[] {
  return servers.pending.map(({ name, how, written, help }) => ({
    name,
    how,
    help,
    entry: JSON.stringify(withoutValues(written)),
  }))
}

function stateOf(
  { sessions, openRequests }: { readonly sessions: number; readonly openRequests: number },
  hasTools: boolean,
  failure: ServerFailure | undefined,
  frozen: string | undefined,
): ServerState {
  if (frozen !== undefined) return { state: 'frozen', why: frozen }
  if (failure !== undefined) {
    const why = [failure.message, failure.help].filter(Boolean).join(': ')
    const needsLogin = failure.code === 'UPSTREAM_NEEDS_LOGIN'
    return { state: needsLogin ? 'needs login' : 'failing', why }
  }
  if (sessions === 0) return { state: 'idle', why: '' }
  // A server that has answered before is up, however long a call of it takes or is held.
  return { state: openRequests === sessions && !hasTools ? 'starting' : 'up', why: '' }
}

/** Arguments and addresses may carry credentials: the program and the host are enough. */
function whereOf(server: ServerConfig): string {
  if (server.kind === 'builtin') return `builtin: ${server.builtin}`
  if (server.kind === 'http') {
    const { origin, pathname } = new URL(server.url)
    return `${origin}${pathname}`
  }
  return server.command
    .slice(0, 3)
    .map((part) => basename(part))
    .join(' ')
}
