// Sends a request on, with the arguments of an approver if one changed them, and waits for the answer.
// Called by handle-call.ts for what was admitted and for what passes undecided.

import type { AdmittedCall } from './call-request.ts'
import type { Exchange } from './call-session.ts'
import { openSealed } from './open-sealed.ts'
import type { ParsedCall, PassingRequest } from './parsed-request.ts'
import type { ForwardResult } from './pending-requests.ts'
import { withArgs } from './wait-options.ts'

/** A call can be forwarded only with its admission. */
export type ForwardRequestOptions = { readonly exchange: Exchange } & (
  | { readonly passes: PassingRequest }
  | { readonly parsed: ParsedCall; readonly admitted: AdmittedCall }
)

export function forwardRequest(options: ForwardRequestOptions): Promise<ForwardResult> {
  const { pending, requests, sender, session } = options.exchange
  if ('passes' in options) {
    const { message, request, trace } = options.passes
    return requests.forward(pending, { message, name: '', request, trace })
  }
  const { admitted, parsed } = options
  const { message, request, rounds, trace } = parsed
  const { admission } = admitted
  const { call, facts, program } = admitted.request
  if (sender === 'client') session.onCall(call, admission.price)
  session.pipeline.onAdmitted?.(call, admitted.request.params, admission)
  const args = admission.approval?.args
  const decided = args === undefined ? message : withArgs(message, args)
  return requests.forward(pending, {
    message: decided,
    opened:
      sender === 'client'
        ? openSealed({
            message: decided,
            tool: call.name,
            vault: session.vault(),
            canOpen: session.answers.canOpen,
            redacts: session.answers.isActive,
          })
        : undefined,
    name: call.name,
    admission,
    tool: facts.tool,
    rounds,
    request,
    trace,
    program,
  })
}
