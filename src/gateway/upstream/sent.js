// What a link to a server knows of the messages it carries: which requests are open, and what
// `initialize` settled. Reads only the head of what the gate itself wrote. Used by both transports.
import { isObject } from '../../core/json.js'
import { OPEN_REQUESTS_MAX } from '../limits.js'

/** As write-message.ts begins them; what else there may be is parsed whole. */
const REQUEST = /^\{"jsonrpc":"2\.0","id":(-?\d{1,15}|"[^"\\]*"),"method":"([^"\\]*)"/
const ANSWER = /^\{"jsonrpc":"2\.0","id":(-?\d{1,15}|"[^"\\]*"),"(?:result|error)":/
const NOTIFICATION = /^\{"jsonrpc":"2\.0","method":"([^"\\]*)"(?:,"params":|\}$)/
export function sentOf(text) {
  const request = REQUEST.exec(text)
  if (request !== null) return { id: JSON.parse(request[1] ?? '0'), method: request[2] }
  const answer = ANSWER.exec(text)
  if (answer !== null) return { id: JSON.parse(answer[1] ?? '0'), method: undefined }
  const notification = NOTIFICATION.exec(text)
  if (notification !== null) return { id: undefined, method: notification[1] }
  const whole = JSON.parse(text)
  return { id: whole.id ?? undefined, method: whole.method }
}
export class Conversation {
  /** Requests without an answer. */
  open = new Set()
  /** The revision that `initialize` settled. */
  revision
  #initialize
  sent({ id, method }) {
    if (id === undefined || method === undefined) return
    this.open.add(id)
    // Those that were given up without `abort` must not gather for ever; the oldest is first.
    const [oldest] = this.open
    if (this.open.size > OPEN_REQUESTS_MAX && oldest !== undefined) this.open.delete(oldest)
    if (method === 'initialize') this.#initialize = id
  }
  received(message) {
    if (message.kind !== 'answer' || message.id === null || !this.open.delete(message.id)) return
    if (message.id === this.#initialize) this.revision = revisionOf(message)
  }
  /** JSON-RPC batches were in the first two revisions. */
  get batches() {
    return this.revision === '2025-03-26' || this.revision === '2024-11-05'
  }
}
function revisionOf({ result }) {
  if (result === undefined) return undefined
  const value = JSON.parse(result)
  const revision = isObject(value) ? value.protocolVersion : undefined
  return typeof revision === 'string' && /^[\w.-]{1,64}$/.test(revision) ? revision : undefined
}
