// A failure of a server as the answer to the request that failed: what a caller is told where nobody
// treats the failure otherwise. The code and the help go in `data`, under the gate's own name. Pure.

import type { JsonRpcResponse } from '../../protocol/message.ts'
import { RPC } from '../../protocol/rpc-codes.ts'
import { writeError } from '../../protocol/write-message.ts'
import type { UpstreamFailure } from './upstream.ts'

export function toFailureResponse(failure: UpstreamFailure): JsonRpcResponse | undefined {
  const { request, code, help, repeatable } = failure
  if (request === undefined) return undefined
  const data = { code, ...(help === undefined ? {} : { help }), repeatable }
  const message = help === undefined ? failure.message : `${failure.message}; ${help}`
  const error = { code: RPC.internal, message, data: { 'sluice/upstream': data } }
  const source = writeError(request, error.code, error.message, error.data)
  return { kind: 'answer', id: request, result: undefined, error, source }
}
