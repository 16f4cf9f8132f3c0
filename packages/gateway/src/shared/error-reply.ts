// A JSON-RPC reply as text, and the error reply that every part of the gate can give.
// Refusals with a reason are built in call/.

import type { JsonValue } from '@sluice/policy/values/json'
import type { RequestId } from '@sluice/protocol/message'
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
