// What a link to a server knows of the messages it carries: which requests are open, and what
// `initialize` settled. Reads only the head of what the gate itself wrote. Used by both transports.

import { isObject } from '@sluice/policy/core/json'
import type { Answer, Id, Message } from '../../protocol/message.ts'
import { OPEN_REQUESTS_MAX } from '../shared/limits.ts'
import { Few } from '../shared/small-set.ts'

/** A request has both, a notification only a method, an answer only an id. */
export interface Sent {
  readonly id: Id | undefined
  readonly method: string | undefined
}

/** As write-message.ts begins them; what else there may be is parsed whole. */
const REQUEST = /^\{"jsonrpc":"2\.0","id":(-?\d{1,15}|"[^"\\]*"),"method":"([^"\\]*)"/
const ANSWER = /^\{"jsonrpc":"2\.0","id":(-?\d{1,15}|"[^"\\]*"),"(?:result|error)":/
const NOTIFICATION = /^\{"jsonrpc":"2\.0","method":"([^"\\]*)"(?:,"params":|\}$)/

export function sentOf(text: string): Sent {
  const request = REQUEST.exec(text)
  if (request !== null) return { id: JSON.parse(request[1] ?? '0') as Id, method: request[2] }
  const answer = ANSWER.exec(text)
  if (answer !== null) return { id: JSON.parse(answer[1] ?? '0') as Id, method: undefined }
  const notification = NOTIFICATION.exec(text)
  if (notification !== null) return { id: undefined, method: notification[1] }
  const whole = JSON.parse(text) as { id?: Id | null; method?: string }
  return { id: whole.id ?? undefined, method: whole.method }
}

export class Conversation {
  /** Requests without an answer. */
  readonly open = new Few<Id>()
  /** The revision that `initialize` settled. */
  revision: string | undefined
  #initialize: Id | undefined

  sent({ id, method }: Sent): void {
    if (id === undefined || method === undefined) return
    this.open.add(id)
    // Those that were given up without `abort` must not gather for ever; the oldest is first.
    if (this.open.size > OPEN_REQUESTS_MAX) {
      const [oldest] = this.open
      this.open.delete(oldest as Id)
    }
    if (method === 'initialize') this.#initialize = id
  }

  received(message: Message): void {
    if (message.kind !== 'answer' || message.id === null || !this.open.delete(message.id)) return
    if (message.id === this.#initialize) this.revision = revisionOf(message)
  }

  /** JSON-RPC batches were in the first two revisions. */
  get batches(): boolean {
    return this.revision === '2025-03-26' || this.revision === '2024-11-05'
  }
}

function revisionOf({ result }: Answer): string | undefined {
  if (result === undefined) return undefined
  const value: unknown = JSON.parse(result)
  const revision = isObject(value) ? value.protocolVersion : undefined
  return typeof revision === 'string' && /^[\w.-]{1,64}$/.test(revision) ? revision : undefined
}
