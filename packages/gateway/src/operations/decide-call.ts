// `decide`: what the policy would decide on a call that is not made. The asker names the principal; the call is
// decided as the first one of a new session, by the same function as every call. Nothing is counted, held or
// sent; that it was asked is recorded.

import { fieldsOf, TEXT } from '@sluice/access/identity/answer-shapes'
import { toActor } from '@sluice/access/identity/person'
import { required, text } from '@sluice/policy/document/build-shape'
import { TOOL_CALL } from '@sluice/policy/language/methods'
import { NotFoundError } from '@sluice/policy/structures/operation-error'
import { operation } from './operation.ts'

const NAME = text(1_000)

export const DECIDE_CALL = operation({
  name: 'calls.decide',
  summary: 'what would be decided on a call, which is not made: nothing is counted or sent',
  role: 'viewer',
  proof: 'none',
  http: { method: 'POST', path: '/api/decide' },
  needsGate: true,
  input: {
    principal: required(NAME, 'who calls: a grant, or `local`'),
    server: required(NAME, 'which server'),
    name: required(NAME, 'which tool or prompt, or the URI of a resource'),
    method: { shape: NAME, doc: 'the method of MCP; `tools/call` if left out' },
    args: { shape: text(1_048_576), doc: 'the arguments as JSON' },
  },
  output: fieldsOf({ action: TEXT, code: TEXT, reason: TEXT, rule: TEXT }),
  run: async ({ authenticator, gate, servers, record }, input, { by }) => {
    const { principal, server, name, method = TOOL_CALL, args = '{}' } = input
    const caller = authenticator.callerOf(principal)
    if (caller === undefined)
      throw new NotFoundError(`\`${principal}\` may not call`, '`sluice grants list` shows who may')
    if (servers?.includes(server) !== true)
      throw new NotFoundError(`no server is called \`${server}\``, '`sluice status` shows them')
    const { action, code, reason, rule } = gate.decide(caller, server, { method, name, args })
    const detail = { server, name, method, principal, action, by: toActor(by) }
    await record('decision-asked', detail)
    return { action, code, reason, rule }
  },
})
