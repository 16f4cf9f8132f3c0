// What a server said, read strictly, and where that fails whose answer it would have been, so that
// nobody waits for it. Used by the links to servers; the reader itself is wire's.
import { isObject } from '../../core/json.js'
import { readMessages } from '../../wire/read-message.js'
export const decodeUtf8 = (bytes) => DECODER.decode(bytes)
const DECODER = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
export function readSaid(text, batches) {
  const reading = readMessages(text, { batches })
  if (reading.ok) return reading
  const { code, message, id } = reading
  const answers = id !== null && isAnswer(text) ? id : undefined
  return { ok: false, why: `${message} [${code}]`, answers }
}
/** By a lenient reader. A request of the server's has an id too, but that is another row of ids. */
function isAnswer(text) {
  const value = JSON.parse(text)
  return isObject(value) && !Object.hasOwn(value, 'method')
}
