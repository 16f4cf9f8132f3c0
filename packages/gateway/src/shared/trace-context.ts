// The trace context (W3C) of HTTP headers: the one thing of a client's that may go along to a server.
// Anything but the exact form is left behind, on the way in and on the way out.

import type { IncomingHttpHeaders } from 'node:http'
import type { TraceContext } from './transport.ts'

const PARENT = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/
const STATE = /^[\x20-\x7e]{1,512}$/

/** Undefined if there is none, or it has another form. */
export function checkTrace({
  traceparent,
  tracestate,
}: IncomingHttpHeaders | TraceContext):
  | { readonly traceparent: string; readonly tracestate?: string }
  | undefined {
  if (typeof traceparent !== 'string' || !PARENT.test(traceparent)) return undefined
  const isState = typeof tracestate === 'string' && STATE.test(tracestate)
  return isState ? { traceparent, tracestate } : { traceparent }
}
