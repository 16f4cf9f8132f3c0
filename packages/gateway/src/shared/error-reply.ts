// A JSON-RPC reply as text, and the error reply that every part of the gate can give.
// Refusals with a reason are built in call/.

import type { JsonValue } from '@sluice/policy/values/json'
import type { RequestId } from '@sluice/protocol/message'
import { writeError } from '@sluice/protocol/write-message'

/** A text, and the code where it is an error. */
export interface RpcReply {
  readonly text: string
  readonly errorCode?: number
}

export function buildErrorReply(
  id: RequestId | null,
  errorCode: number,
  message: string,
  data?: JsonValue,
): RpcReply {
  return { text: writeError(id, errorCode, message, data), errorCode }
}
