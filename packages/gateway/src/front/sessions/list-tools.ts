// The gate as a client of one of its servers, behind its own relay: begins a session and reads the list
// of tools. What the relay sees of the list is known to the gate from then on.

import type { Caller } from '@sluice/access/identity/callers/caller'
import { AGENT_SESSIONS_MAX } from '@sluice/access/identity/grant-fields'
import { AGENT_SESSIONS_WINDOW_MS } from '@sluice/access/identity/limits'
import type { ToolDefinition } from '@sluice/policy/calls/tools'
import { withMembers } from '@sluice/protocol/members'
import { negotiateRevision } from '@sluice/protocol/revisions'
import { LOCAL_POLICY } from '../../config/grants.ts'
import { listPages } from '../../shared/list-pages.ts'
import type { ClientEvents, ClientTransport, ConnectionOrigin } from '../../shared/transport.ts'
import { MemberTransport, membersFrom } from './member-transport.ts'

/** Rejects if the server refuses. */
export async function beginSession(link: MemberTransport, client: string): Promise<void> {
  const params = withMembers(undefined, {
    protocolVersion: JSON.stringify(negotiateRevision(undefined)),
    capabilities: '{}',
    clientInfo: JSON.stringify({ name: client, version: '1' }),
  })
  const { error } = await link.ask('initialize', params)
  if (error !== undefined) throw new Error(error.message)
  link.tell('notifications/initialized', {})
}

/** All pages, of what the caller may see. */
export async function listTools(link: MemberTransport): Promise<ToolDefinition[]> {
  const tools: ToolDefinition[] = []
  const ask = async (params: Record<string, string>) =>
    (await link.ask('tools/list', membersFrom(params))).result
  for await (const { members } of listPages(ask, () => {}))
    tools.push(...(JSON.parse(members.get('tools') ?? '[]') as ToolDefinition[]))
  return tools
}

/** Puts the gate between a link and a server; the link is ready for messages when it returns. */
export type OpenServer = (
  server: string,
  link: ClientTransport,
  who: () => Caller,
  origin: ConnectionOrigin,
) => ClientEvents

/** No grant and no issuer can have this name. It makes no calls. */
const CONSOLE: Caller = {
  principal: { id: 'the console', kind: 'local', groups: [], claims: {} },
  policy: LOCAL_POLICY,
  sessions: { max: AGENT_SESSIONS_MAX, windowMs: AGENT_SESSIONS_WINDOW_MS },
  explain: false,
  holds: () => true,
}

/** Starts the server if it does not run, reads its list once and lets it go. Rejects with why not. */
export async function readServerTools(server: string, open: OpenServer): Promise<void> {
  const link = new MemberTransport(
    { generation: 'session', onAnswer() {}, onNotification() {}, onDrop() {}, onEnd() {} },
    (made) => open(server, made, () => CONSOLE, {}),
  )
  try {
    await beginSession(link, 'sluice-console')
    await listTools(link)
  } finally {
    link.close('its tools are read')
  }
}
