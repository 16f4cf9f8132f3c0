// Sessions for people: which there are, and ending one. Ending makes a session forget its labels, so it
// needs the proof of a person and is recorded.

import type { JsonObject } from '@sluice/policy/core/json'
import { OperationError } from '../core/operation-error.ts'
import type { Person } from '../core/person.ts'
import type { OpenSessions } from '../gateway/session/open-sessions.ts'
import { describeSession, type SessionView } from '../identity/sessions/describe-session.ts'
import type { Ledger } from '../ledger/ledger.ts'

export interface SessionParts {
  readonly sessions: OpenSessions
  readonly ledger: Pick<Ledger, 'event'>
  readonly nowMs: () => number
}

export function listSessions({ sessions }: Pick<SessionParts, 'sessions'>): JsonObject {
  return { sessions: sessions.list().map(toSessionView) }
}

export async function endSession(
  { sessions, ledger, nowMs }: SessionParts,
  { session }: JsonObject,
  by: Person,
): Promise<JsonObject> {
  const ended = typeof session === 'string' ? sessions.end(session) : undefined
  if (ended === undefined)
    throw new OperationError(
      `no session is called \`${String(session).slice(0, 100)}\``,
      '`sluice sessions list` shows them',
    )
  const detail = { session: ended.id, labels: [...ended.saw], by: by.name }
  await ledger.event({ atMs: nowMs(), name: 'session-end', detail })
  return toSessionView(ended)
}

export function toSessionView(view: SessionView): JsonObject {
  const { id, principal, kind, client, startedAtMs, lastUsedMs, connections, calls } = view
  return {
    id,
    name: describeSession(view),
    principal,
    kind,
    client,
    since: new Date(startedAtMs).toISOString(),
    lastUsed: new Date(lastUsedMs).toISOString(),
    connections,
    calls,
    servers: [...view.servers],
    saw: [...view.saw],
  }
}
