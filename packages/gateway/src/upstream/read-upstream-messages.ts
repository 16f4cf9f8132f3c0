// What a server said, read strictly, and if that fails whose answer it would have been, so that
// nobody waits for it. Used by the links to servers; the reader itself is in `protocol`.

import type { JsonRpcMessage, RequestId } from '@sluice/protocol/message'
import { readMessages } from '@sluice/protocol/read-message'
import { enterStep } from '../shared/current-step.ts'

export type UpstreamMessages =
  | { readonly ok: true; readonly messages: readonly JsonRpcMessage[] }
  | { readonly ok: false; readonly why: string; readonly answers: RequestId | undefined }

export function readUpstreamMessages(text: string, batches: boolean): UpstreamMessages {
  enterStep('read')
  const reading = readMessages(text, { batches })
  if (reading.ok) return reading
  const { code, message, id, isAnswer } = reading
  const answers = id !== null && isAnswer ? id : undefined
  return { ok: false, why: `${message} [${code}]`, answers }
}
