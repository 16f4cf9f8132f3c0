// `sluice sessions`: which sessions there are, and ending one. Ending makes a session forget its labels,
// so it needs the proof of a person and is recorded.

import { InstallationKey } from '@sluice/access/identity/keys/installation-key'
import {
  describeSession,
  type SessionSummary,
  type SessionView,
} from '@sluice/access/identity/sessions/describe-session'
import { SessionTokens } from '@sluice/access/identity/sessions/session-tokens'
import { required, text } from '@sluice/policy/document/build-shape'
import { OperationError } from '@sluice/policy/structures/operation-error'
import { commandOperation, type Operation } from './operation.ts'
import { REQUIRED_ROLES } from './verify-person.ts'

/** A session as `sluice sessions list --json` and `sluice status --json` show it. */
export interface ListedSession extends SessionSummary {
  /** The session in words, with the name that the client gives itself. */
  readonly name: string
  /** When it began, as an ISO time. */
  readonly since: string
  /** When it was used last, as an ISO time. */
  readonly lastUsed: string
}

export const MAKE_SESSION_TOKEN = commandOperation({
  name: 'sessions.token',
  summary: 'a token that makes the HTTP requests of one client a session',
  role: 'viewer',
  proof: 'none',
  socket: 'session-token',
  needsGate: true,
  input: {},
  run: ({ running: { cluster, config } }) => ({
    token: new SessionTokens(cluster?.key ?? InstallationKey.at(config.data)).make(),
  }),
})

export const LIST_SESSIONS = commandOperation({
  name: 'sessions.list',
  summary: 'list open sessions',
  role: 'viewer',
  proof: 'none',
  socket: 'sessions',
  needsGate: true,
  input: {},
  run: ({ running }) => ({ sessions: running.gate.sessions.list().map(toSessionView) }),
})

export const END_SESSION = commandOperation({
  name: 'sessions.end',
  summary: 'end a session: close its connections, forget its labels',
  role: REQUIRED_ROLES.sessions,
  proof: 'fresh',
  socket: 'session-end',
  needsGate: true,
  changes: true,
  input: {
    session: required(text(1_000), 'as `sluice sessions list` shows it'),
  },
  run: async ({ record, running }, { session }, { by }) => {
    const ended = await running.gate.sessions.end(session)
    if (ended === undefined)
      throw new OperationError(
        `no session is called \`${session.slice(0, 100)}\``,
        '`sluice sessions list` shows them',
      )
    const detail = { session: ended.id, labels: [...ended.saw], by: by.name }
    await record('session-end', detail)
    return toSessionView(ended)
  },
})

export const SESSION_OPERATIONS: readonly Operation[] = [
  MAKE_SESSION_TOKEN,
  LIST_SESSIONS,
  END_SESSION,
]

export function toSessionView(view: SessionView): ListedSession {
  const { startedAtMs, lastUsedMs, ...rest } = view
  return {
    ...rest,
    name: describeSession(view),
    since: new Date(startedAtMs).toISOString(),
    lastUsed: new Date(lastUsedMs).toISOString(),
  }
}
