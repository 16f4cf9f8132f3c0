// The open sessions, with what each has cost. Ending one is a command: it makes the session forget its labels.

import { describeSession } from '@sluice/access/identity/sessions/describe-session'
import type { AdminParts } from '@sluice/gateway/start/run-admin'
import { type Endpoint, endpoint } from '../http/endpoint.ts'

/** A row of `GET /api/sessions`. */
export interface OpenSessionView {
  readonly id: string
  /** Whose it is. */
  readonly principal: string
  /** In words, with the name that the client gives itself. */
  readonly name: string
  readonly connections: number
  readonly calls: number
  /** Of all its answers, estimated. */
  readonly tokens: number
  /** The prices of its calls; a decimal. */
  readonly cost: string
  /** Labels of what it has read. */
  readonly saw: readonly string[]
}

export function sessionsEndpoints({ gate }: Pick<AdminParts, 'gate'>): Endpoint[] {
  return [
    endpoint('GET /api/sessions', {
      role: 'viewer',
      summary: 'open sessions: their calls, the tokens of their answers, and what they cost',
      handle: (): { sessions: readonly OpenSessionView[] } => ({
        sessions: gate.sessions.list().map((session) => {
          const { id, principal, connections, calls, tokens, cost, saw } = session
          const name = describeSession(session)
          return { id, principal, name, connections, calls, tokens, cost, saw: [...saw] }
        }),
      }),
    }),
  ]
}
