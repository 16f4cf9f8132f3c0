// A JSON-RPC reply as text, and the error reply that every part of the gate can give.
// Refusals with a reason are built in call/.

import { UNAVAILABLE_RETRY_MS } from '@sluice/ledger/store/limits'
import type { JsonValue } from '@sluice/policy/values/json'
import type { RequestId } from '@sluice/protocol/message'
import { toRpcCode } from '@sluice/protocol/rpc-codes'
import { writeError } from '@sluice/protocol/write-message'

/** The request names something that does not exist, or that is hidden from the caller. */
export interface NotFound {
  readonly method: string
  readonly name: string
  /** Why it may exist all the same. */
  readonly doubt?: string | undefined
}

/** A text, and the code where it is an error. */
export interface RpcReply {
  readonly text: string
  readonly errorCode?: number
  /** The reply says that this was not found, and nothing else. */
  readonly notFound?: NotFound
}

export function buildErrorReply(
  id: RequestId | null,
  errorCode: number,
  message: string,
  data?: JsonValue,
): RpcReply {
  return { text: writeError(id, errorCode, message, data), errorCode }
}

/** Something that the gate needs cannot be asked now: the request was not carried out, and may be made again. */
export function buildOutageReply(id: RequestId | null, reason: string): RpcReply {
  const code = 'GATE_UNAVAILABLE'
  const details = { decision: 'deny', code, reason, retryAfterMs: UNAVAILABLE_RETRY_MS }
  return buildErrorReply(id, toRpcCode(code), reason, { 'sluice/decision': details })
}
