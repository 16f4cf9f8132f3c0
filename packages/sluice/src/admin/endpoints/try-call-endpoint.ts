// A call that a person makes from the console, under the policy and the limits of a grant: through the
// whole gate like any other. That it was made here and by whom is recorded before it, and its session is
// named after them.

import type { JsonObject } from '@sluice/policy/core/json'
import { toActor } from '../../core/person.ts'
import { beginSession } from '../../gateway/front/sessions/list-tools.ts'
import { MemberTransport } from '../../gateway/front/sessions/member-transport.ts'
import type { AdminParts } from '../../gateway/start/run-admin.ts'
import { readJson } from '../../protocol/json/read-json.ts'
import { withMembers } from '../../protocol/members.ts'
import { TRIED_ANSWER_LENGTH_MAX, TRIED_CALL_MS } from '../contract/console-limits.ts'
import type { TriedCall } from '../contract/contract-console.ts'
import { type Endpoint, endpoint, required } from '../http/endpoint.ts'
import { ApiError } from '../http/errors.ts'

export interface TryCallParts {
  readonly parts: Pick<AdminParts, 'authenticator' | 'gate' | 'servers'>
  readonly record: (detail: JsonObject) => Promise<unknown>
  readonly nowMs: () => number
}

const CALL = {
  server: required({ kind: 'text', max: 64 }, 'which server'),
  name: required({ kind: 'text', max: 1_000 }, 'which tool'),
  principal: required({ kind: 'text', max: 200 }, 'a grant, or `local`'),
  args: required(
    { kind: 'text', max: TRIED_ANSWER_LENGTH_MAX, empty: true },
    'the arguments as JSON, sent as they are written',
  ),
} as const

export function tryCallEndpoint({ parts, record, nowMs }: TryCallParts): Endpoint {
  return endpoint({
    method: 'POST',
    path: '/api/calls',
    role: 'admin',
    proof: true,
    input: CALL,
    summary: 'make a call under a grant, as a client with its token would; it has its effects',
    handle: async ({ input, person }): Promise<TriedCall> => {
      const { server, name, principal, args } = input
      const { authenticator, gate, servers } = parts
      if (!servers.names.includes(server))
        throw new ApiError('API_NOT_FOUND', `no server is called \`${server}\``, 'see /api/servers')
      const caller = authenticator.callerOf(principal)
      if (caller === undefined)
        throw new ApiError('API_NOT_FOUND', `\`${principal}\` may not call`, 'see /api/grants')
      const read = readJson(args)
      if (!read.ok) throw new ApiError('API_REQUEST', `the arguments: ${read.message}`, 'send JSON')
      const atMs = nowMs()
      await record({ server, name, principal, by: toActor(person) })
      const link = new MemberTransport(
        { generation: 'session', onAnswer() {}, onNotification() {}, onDrop() {}, onEnd() {} },
        (made) => gate.open(server, made, () => caller, {}),
      )
      const beganMs = performance.now()
      try {
        await beginSession(link, `sluice-console (${person.name})`)
        const params = withMembers(undefined, { name: JSON.stringify(name), arguments: args })
        const { result, error } = await link.ask('tools/call', params, TRIED_CALL_MS)
        const answer = result ?? JSON.stringify(error, null, 2)
        return {
          isError:
            error !== undefined || (JSON.parse(answer) as { isError?: boolean }).isError === true,
          answer: answer.slice(0, TRIED_ANSWER_LENGTH_MAX),
          atMs,
          durationMs: performance.now() - beganMs,
        }
      } catch (error) {
        throw new ApiError('API_REFUSED', (error as Error).message, 'see the ledger for its record')
      } finally {
        link.close('the call is made')
      }
    },
  })
}
