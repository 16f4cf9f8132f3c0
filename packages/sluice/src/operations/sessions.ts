// `sluice sessions`: which sessions there are, and ending one. Ending makes a session forget its labels,
// so it needs the proof of a person and is recorded.

import type { JsonObject } from '@sluice/policy/core/json'
import { OperationError } from '../core/operation-error.ts'
import type { OpenSessions } from '../gateway/session/open-sessions.ts'
import { describeSession, type SessionView } from '../identity/sessions/describe-session.ts'
import { type Operation, operation } from './operation.ts'
import { REQUIRED_ROLES } from './verify-person.ts'

export function createSessionOperations(
  sessions: OpenSessions,
  makeToken: () => string,
): readonly Operation[] {
  return [
    operation({
      name: 'sessions.token',
      summary: 'a token that makes the HTTP requests of one client a session',
      role: 'viewer',
      proof: 'none',
      socket: 'session-token',
      command: 'sessions token',
      input: {},
      run: () => ({ token: makeToken() }),
    }),
    operation({
      name: 'sessions.list',
      summary: 'which sessions there are',
      role: 'viewer',
      proof: 'none',
      socket: 'sessions',
      command: 'sessions list',
      input: {},
      run: () => ({ sessions: sessions.list().map(toSessionView) }),
    }),
    operation({
      name: 'sessions.end',
      summary: 'end a session: it forgets its labels',
      role: REQUIRED_ROLES.sessions,
      proof: 'fresh',
      socket: 'session-end',
      command: 'sessions end',
      input: {
        session: { shape: { kind: 'text', max: 1_000 }, doc: 'which session', required: true },
      },
      run: async ({ ledger, nowMs }, { session }, { by }) => {
        const ended = await sessions.end(session)
        if (ended === undefined)
          throw new OperationError(
            `no session is called \`${session.slice(0, 100)}\``,
            '`sluice sessions list` shows them',
          )
        const detail = { session: ended.id, labels: [...ended.saw], by: by.name }
        await ledger.event({ atMs: nowMs(), name: 'session-end', detail })
        return toSessionView(ended)
      },
    }),
  ]
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
