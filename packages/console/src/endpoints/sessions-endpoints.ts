// The open sessions, with what each has cost. Ending one is a command: it makes the session forget its labels.

import { describeSession } from '@sluice/access/identity/sessions/describe-session'
import type { AdminParts } from '@sluice/gateway/start/run-admin'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import type { LedgerReader } from '../queries/ledger-reader.ts'

/** A row of `GET /api/sessions`. */
export interface OpenSessionView {
  readonly id: string
  /** Whose it is. */
  readonly principal: string
  /** In words, with the name that the client gives itself. */
  readonly name: string
  readonly connections: number
  /** On record, as every figure counts calls. */
  readonly calls: number
  /** The size of all its answers, estimated: tokens of a model are counted for agents alone. */
  readonly tokens: number
  /** The prices of its calls; a decimal. */
  readonly cost: string
  /** Labels of what it has read. */
  readonly saw: readonly string[]
}

export function sessionsEndpoints(
  { gate }: Pick<AdminParts, 'gate'>,
  reader: Pick<LedgerReader, 'ask'>,
): Endpoint[] {
  return [
    endpoint('GET /api/sessions', {
      role: 'viewer',
      summary: 'open sessions: their calls, the tokens of their answers, and what they cost',
      handle: async (): Promise<{ sessions: readonly OpenSessionView[] }> => {
        const list = gate.sessions.list()
        const counts = await reader.ask(
          'sessionCalls',
          list.map(({ id }) => id),
        )
        return {
          sessions: list.map((session) => {
            const { id, principal, connections, tokens, cost, saw } = session
            const [name, calls] = [describeSession(session), counts.get(id) ?? 0]
            return { id, principal, name, connections, calls, tokens, cost, saw: [...saw] }
          }),
        }
      },
    }),
  ]
}
