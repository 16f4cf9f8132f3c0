// Begins the call of a hook that comes before a tool: it is sent through the gate as a `tools/call`, and the hook is
// answered once the call is admitted, with its box if it needs one, or refused. Called by hook-gate.ts.

import { randomUUID } from 'node:crypto'
import { describeToCaller } from '@sluice/ledger/store/outage'
import { writeCanonicalJson } from '@sluice/policy/values/canonical-json'
import { HOOK_CALL_MS_MAX } from '../../config/limits.ts'
import { deny, type HookAnswer, type HookedCall, PASS } from '../../hooks/clients/hook-event.ts'
import {
  type CallReply,
  type KeptLink,
  readCallReply,
  toCallParams,
} from '../sessions/kept-links.ts'
import type { PreparedLine } from './box-lines.ts'
import { toResult } from './hook-output.ts'
import { HOOK_META, type HookServer } from './hook-server.ts'
import type { OpenCall } from './open-calls.ts'

export interface BeginContext {
  /** The session that the call is made in. */
  readonly kept: KeptLink
  /** The server that stands for the client. */
  readonly server: HookServer
  /** Makes the line that is to run in a box, once the call is admitted; undefined for any other call. */
  readonly enter: (() => Promise<PreparedLine>) | undefined
}

/** Returns undefined if the arguments cannot be read strictly. */
export function beginCall(
  { tool, args, input }: HookedCall,
  { kept: { link, begun }, server, enter }: BeginContext,
): OpenCall | undefined {
  const hook = randomUUID()
  const givenUp = new AbortController()
  const params = toCallParams(tool, args, { [HOOK_META]: hook })
  if (typeof params === 'string') return undefined
  const reply = begun
    .then(() => link.ask('tools/call', params, 2 * HOOK_CALL_MS_MAX, givenUp))
    .then(readCallReply)
    .catch((error: Error): CallReply => ({ kind: 'unknown', text: describeToCaller(error) }))
    .finally(() => server.forget(hook))
  const { promise: verdict, resolve } = Promise.withResolvers<HookAnswer>()
  const open: OpenCall = { tool, args, reply, verdict, giveUp: () => givenUp.abort() }
  server.await(hook, (end, admitted, admission) => {
    const isChanged = writeCanonicalJson(admitted) !== writeCanonicalJson(args)
    if (!isChanged) open.admission = admission
    if (isChanged || enter === undefined) {
      open.end = end
      return resolve(isChanged ? { kind: 'pass', args: admitted } : PASS)
    }
    // Until its box is known nobody can say whether the line that comes back is the one that was admitted.
    void enter()
      .catch(refuseLine)
      .then((prepared) => {
        if (prepared.kind === 'refuse') {
          end(toResult(prepared.why, true))
          return resolve(deny(prepared.why))
        }
        open.box = prepared.box
        open.end = end
        resolve({ kind: 'rewrite', input: { ...input, command: prepared.command } })
      })
  })
  void reply.then((refused) => {
    const { decision } = refused.kind === 'refused' ? refused : {}
    resolve({ ...deny(refused.text), ...(decision === undefined ? {} : { decision }) })
  })
  return open
}

/** A fault of the gate must not leave the hook without an answer: clients run the line then. */
function refuseLine(error: Error): PreparedLine {
  return { kind: 'refuse', why: `this line cannot enter its box: ${describeToCaller(error)}` }
}
