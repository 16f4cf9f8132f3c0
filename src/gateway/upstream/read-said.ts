// What a server said, read strictly, and where that fails whose answer it would have been, so that
// nobody waits for it. Used by the links to servers; the reader itself is wire's.

import { isObject } from '../../core/json.ts'
import type { Id, Message } from '../../wire/message.ts'
import { readMessages } from '../../wire/read-message.ts'

export type Said =
  | { readonly ok: true; readonly messages: readonly Message[] }
  | { readonly ok: false; readonly why: string; readonly answers: Id | undefined }

export function readSaid(text: string, batches: boolean): Said {
  const reading = readMessages(text, { batches })
  if (reading.ok) return reading
  const { code, message, id } = reading
  const answers = id !== null && isAnswer(text) ? id : undefined
  return { ok: false, why: `${message} [${code}]`, answers }
}

/** By a lenient reader. A request of the server's has an id too, but that is another row of ids. */
function isAnswer(text: string): boolean {
  const value: unknown = JSON.parse(text)
  return isObject(value) && !Object.hasOwn(value, 'method')
}
