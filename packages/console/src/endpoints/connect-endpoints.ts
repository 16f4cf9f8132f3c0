// Signing in at an MCP server for oneself: the gate sends the person's browser to the server's authorisation server and
// stores what it comes back with as the login of a principal that this person owns. No role decides here, only who
// owns the principal: nobody stores their own login as another's, an admin neither.

import type { IncomingMessage } from 'node:http'
import type { LoginFlow } from '@sluice/access/identity/oauth/login-flow'
import type { RelyingParty } from '@sluice/access/identity/people/passkeys'
import { type Person, toActor } from '@sluice/access/identity/person'
import type { ServerConfig } from '@sluice/gateway/config/config'
import type { LoginConfig } from '@sluice/gateway/config/login'
import type { AdminParts } from '@sluice/gateway/start/run-admin'
import { recordFirst } from '@sluice/ledger/record-first'
import { required, text } from '@sluice/policy/document/build-shape'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import { ApiError } from '../http/errors.ts'
import { CONNECT_MS, CONNECTIONS_MAX } from '../http/limits.ts'
import { ExpiringMap } from '../sign-in/expiring-map.ts'

/** A server at which each person signs in by themselves, for one principal of the person who asks. */
export interface ConnectionView {
  readonly server: string
  readonly principal: string
  readonly isConnected: boolean
  /** When the token ends; null if it does not say, or there is none. */
  readonly untilMs: number | null
}

/** Where the browser goes on. It comes back to `/connect/SERVER`. */
export interface ConnectStart {
  readonly address: string
}

interface OpenConnection {
  readonly flow: LoginFlow
  readonly server: string
  readonly principal: string
  /** Only who began it ends it: else somebody could be led to give their login to another. */
  readonly person: string
}

interface ConnectTarget {
  readonly url: string
  readonly login: LoginConfig
}

const ANSWER = {
  state: required(text(1_000), 'as the browser brought it'),
  code: { shape: text(4_096), doc: 'as the browser brought it' },
  iss: { shape: text(2_048), doc: 'as the browser brought it' },
  error: { shape: text(1_000), doc: 'as the browser brought it' },
  error_description: { shape: text(4_096), doc: 'as the browser brought it' },
} as const

export function connectEndpoints(
  parts: AdminParts,
  rpOf: (request: IncomingMessage) => RelyingParty,
  nowMs: () => number,
): Endpoint[] {
  const open = new ExpiringMap<OpenConnection>(CONNECTIONS_MAX, nowMs)
  return [
    endpoint('GET /api/connections', {
      role: 'viewer',
      summary: 'servers at which each person signs in, and where the one who asks has done so',
      handle: ({ person }) => ({ connections: listConnections(parts, person) }),
    }),
    endpoint('POST /api/connections/:server', {
      role: 'viewer',
      input: { principal: required(text(300), 'one of those that are the person’s own') },
      summary: 'begin to sign in at a server: where the browser goes',
      handle: async ({ input: { server, principal }, person, request }): Promise<ConnectStart> => {
        const target = targetOf(parts, server)
        if (!person.owns.includes(principal))
          throw new ApiError(
            'API_ROLE',
            `\`${principal}\` is not yours`,
            `yours: ${person.owns.map((own) => `\`${own}\``).join(', ') || 'none; an admin gives one with `--owns`'}`,
          )
        const redirect = `${rpOf(request).origin}/connect/${server}`
        const flow = await begin(target, redirect)
        const state = new URL(flow.address).searchParams.get('state') ?? ''
        open.put(state, { flow, server, principal, person: person.name }, CONNECT_MS)
        return { address: flow.address }
      },
    }),
    endpoint('POST /api/connections/:server/answer', {
      role: 'viewer',
      input: ANSWER,
      summary: 'what the browser came back with: the login is stored',
      handle: async ({ input: { server, ...answer }, person }) => {
        const begun = open.get(answer.state)
        if (begun === undefined || begun.person !== person.name || begun.server !== server)
          throw new ApiError(
            'API_REFUSED',
            'this answer belongs to nothing that you have begun here',
            'begin again on this page',
          )
        open.take(answer.state)
        await store(parts, begun, { answer, by: person, nowMs: nowMs() })
        return { server, principal: begun.principal }
      },
    }),
  ]
}

function listConnections({ servers, logins }: AdminParts, { owns }: Person): ConnectionView[] {
  return servers.entries.flatMap(([server, config]) => {
    if (!isPersonal(config)) return []
    return owns.map((principal) => {
      const login = logins.get({ server, principal })
      const isConnected = login?.url === config.url
      const untilMs = (isConnected ? login?.expiresMs : undefined) ?? null
      return { server, principal, isConnected, untilMs }
    })
  })
}

function isPersonal(config: ServerConfig | undefined): config is ServerConfig & ConnectTarget {
  return config?.kind === 'http' && config.login?.kind === 'principal'
}

function targetOf({ servers }: AdminParts, server: string): ConnectTarget {
  const config = servers.find(server)
  if (isPersonal(config)) return config
  throw new ApiError(
    'API_NOT_FOUND',
    `nobody signs in for themselves at \`${server.slice(0, 64)}\``,
    'sluice.yaml says where: `auth: { login: principal }` of a server',
  )
}

async function begin({ url, login }: ConnectTarget, redirect: string): Promise<LoginFlow> {
  // Loaded with the first who signs in at a server.
  const { discoverLogin } = await import('@sluice/access/identity/oauth/discover-login')
  const { LoginFlow: Flow } = await import('@sluice/access/identity/oauth/login-flow')
  try {
    const place = await discoverLogin(url, login.issuer)
    const { client, scopes } = login
    return await Flow.begin(place, { url, redirect, client, scopes })
  } catch (error) {
    throw toApiError(error as Error)
  }
}

async function store(
  { gate, ledger, logins }: AdminParts,
  { flow, server, principal }: OpenConnection,
  {
    answer,
    by,
    nowMs,
  }: {
    readonly answer: Readonly<Record<string, string | undefined>>
    readonly by: Person
    readonly nowMs: number
  },
): Promise<void> {
  const sent = Object.entries(answer).filter((member): member is [string, string] => !!member[1])
  const login = await flow.finish(new URLSearchParams(sent), nowMs).catch((error: Error) => {
    throw toApiError(error)
  })
  // Recorded before it can be used.
  const detail = { how: 'signed in', server, principal, by: toActor(by) }
  await recordFirst(ledger, { atMs: nowMs, name: 'credential', detail })
  logins.put({ server, principal }, login, nowMs)
  gate.signedIn(server)
}

function toApiError({ message }: Error): ApiError {
  return new ApiError('API_ISSUER', message, 'begin again; if it persists, ask an operator')
}
