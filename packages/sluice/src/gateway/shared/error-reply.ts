// A JSON-RPC reply as text, and the error reply that every part of the gate can give.
// Refusals with a reason are built in call/.

import type { JsonValue } from '@sluice/policy/core/json'
import type { Id } from '../../protocol/message.ts'
import { writeError } from '../../protocol/write-message.ts'

/** A text, and the code where it is an error. */
export interface Told {
  readonly text: string
  readonly errorCode?: number
}

export function errorAnswer(
  id: Id | null,
  errorCode: number,
  message: string,
  data?: JsonValue,
): Told {
  return { text: writeError(id, errorCode, message, data), errorCode }
}
