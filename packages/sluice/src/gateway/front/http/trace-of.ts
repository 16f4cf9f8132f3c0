// The trace context (W3C) of a client's request over HTTP: the one thing of its headers that may go
// along to a server. Anything but the exact form is left behind.

import type { IncomingHttpHeaders } from 'node:http'
import type { TraceContext } from '../../shared/transport.ts'

const PARENT = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/
const STATE = /^[\x20-\x7e]{1,512}$/

export function traceOf({ traceparent, tracestate }: IncomingHttpHeaders): {
  readonly trace?: TraceContext
} {
  if (typeof traceparent !== 'string' || !PARENT.test(traceparent)) return {}
  const isState = typeof tracestate === 'string' && STATE.test(tracestate)
  return { trace: isState ? { traceparent, tracestate } : { traceparent } }
}
