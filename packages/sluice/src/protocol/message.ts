// JSON-RPC messages as the gate holds them: parsed strictly for judging, with the very text of what
// it does not judge, so that what was judged is what is sent. Made by read-message.ts, written by
// write-message.ts.

import type { JsonObject, JsonValue } from '@sluice/policy/core/json'

export type RequestId = string | number

/** Parsed members and, beside each, the text it was read from. */
export interface ParsedMembers {
  readonly value: JsonObject
  readonly text: ReadonlyMap<string, string>
  /** Nothing in these texts, nor in the message around them, may be taken for the end of a line. Said
   * by the reader alone, of the very texts it read: what is put together anew is looked at anew. */
  readonly isOneLine?: true
}

export interface JsonRpcRequest {
  readonly kind: 'request'
  readonly id: RequestId
  readonly method: string
  readonly params: ParsedMembers | undefined
  /** The whole message as it was read. */
  readonly source: string
}

export interface JsonRpcNotification {
  readonly kind: 'notification'
  readonly method: string
  readonly params: ParsedMembers | undefined
  readonly source: string
}

/** An answer: `result` is text, parsed only where somebody has to look inside. */
export interface JsonRpcResponse {
  readonly kind: 'answer'
  readonly id: RequestId | null
  readonly result: string | undefined
  readonly error:
    | { readonly code: number; readonly message: string; readonly data?: JsonValue }
    | undefined
  readonly source: string
}

export type JsonRpcMessage = JsonRpcRequest | JsonRpcNotification | JsonRpcResponse
