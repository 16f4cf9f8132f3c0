// What a link to a server knows of the messages it carries: which requests are open, and what
// `initialize` settled. Reads only the head of what the gate itself wrote. Used by both transports.

import { isObject } from '@sluice/policy/values/json'
import type { JsonRpcMessage, JsonRpcResponse, RequestId } from '@sluice/protocol/message'
import { SmallMap } from '../shared/small-map.ts'
import { OPEN_REQUESTS_MAX, UPSTREAM_MESSAGE_BYTES_MAX } from './limits.ts'

/** A request has both, a notification only a method, an answer only an id. */
export interface MessageHead {
  readonly id: RequestId | undefined
  readonly method: string | undefined
}

/** The beginning of a request as write-message.ts writes it; what else there may be is parsed whole. */
const REQUEST = /^\{"jsonrpc":"2\.0","id":(-?\d{1,15}|"[^"\\]*"),"method":"([^"\\]*)"/
const ANSWER = /^\{"jsonrpc":"2\.0","id":(-?\d{1,15}|"[^"\\]*"),"(?:result|error)":/
const NOTIFICATION = /^\{"jsonrpc":"2\.0","method":"([^"\\]*)"(?:,"params":|\}$)/

export function readMessageHead(text: string): MessageHead {
  const request = REQUEST.exec(text)
  if (request !== null)
    return { id: JSON.parse(request[1] ?? '0') as RequestId, method: request[2] }
  const answer = ANSWER.exec(text)
  if (answer !== null) return { id: JSON.parse(answer[1] ?? '0') as RequestId, method: undefined }
  const notification = NOTIFICATION.exec(text)
  if (notification !== null) return { id: undefined, method: notification[1] }
  const whole = JSON.parse(text) as { id?: RequestId | null; method?: string }
  return { id: whole.id ?? undefined, method: whole.method }
}

export class UpstreamState {
  /** Requests without an answer. */
  readonly open = new SmallMap<RequestId, true>()
  /** The revision that `initialize` settled. */
  revision: string | undefined
  #initialize: RequestId | undefined

  noteSent({ id, method }: MessageHead): void {
    if (id === undefined || method === undefined) return
    this.open.set(id, true)
    // Those that were given up without `abort` must not gather for ever; the oldest is first.
    if (this.open.size > OPEN_REQUESTS_MAX) {
      const [oldest] = this.open.keys()
      this.open.delete(oldest as RequestId)
    }
    if (method === 'initialize') this.#initialize = id
  }

  received(message: JsonRpcMessage): void {
    if (message.kind !== 'answer' || message.id === null || !this.open.delete(message.id)) return
    if (message.id === this.#initialize) this.revision = revisionOf(message)
  }

  /** JSON-RPC batches were in the first two revisions. */
  get batches(): boolean {
    return this.revision === '2025-03-26' || this.revision === '2024-11-05'
  }
}

function revisionOf({ result }: JsonRpcResponse): string | undefined {
  if (result === undefined) return undefined
  const value: unknown = JSON.parse(result)
  const revision = isObject(value) ? value.protocolVersion : undefined
  return typeof revision === 'string' && /^[\w.-]{1,64}$/.test(revision) ? revision : undefined
}

/** How a server failed whose message is larger than `max_message` of its entry in sluice.yaml. */
export function describeTooLarge(bytesMax: number): string {
  const most = `${UPSTREAM_MESSAGE_BYTES_MAX / MEBIBYTE}MiB`
  return `said more than ${bytesMax / MEBIBYTE} MiB in one message, which is its \`max_message\` (at most ${most})`
}

const MEBIBYTE = 1_048_576
