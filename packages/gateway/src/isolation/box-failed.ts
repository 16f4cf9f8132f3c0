// Why a session has no box: the line is refused then, and nothing runs unconfined in its place.

import { CodedError } from '@sluice/policy/structures/coded-error'
import type { GatewayErrorCode } from '../shared/errors.ts'

export type BoxFailed = CodedError<GatewayErrorCode>

export function boxFailed(message: string, help: string, cause?: unknown): BoxFailed {
  return new CodedError<GatewayErrorCode>('BOX_FAILED', message, help, cause)
}
