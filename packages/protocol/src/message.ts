// JSON-RPC messages in the gate: parsed strictly for decisions, with the exact text of what is not
// decided on, so that what was decided on is what is sent. Created by read-message.ts, written by
// write-message.ts.

import type { JsonObject, JsonValue } from '@sluice/policy/values/json'

export type RequestId = string | number

/** Parsed members, each with the text it was read from. */
export interface ParsedMembers {
  readonly value: JsonObject
  readonly text: ReadonlyMap<string, string>
  /**
   * Nothing in these texts, nor in the message around them, can be read as the end of a line. Set
   * by the reader only, for the exact texts it read: rebuilt texts are checked again.
   */
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

/** `result` is text, parsed only if it has to be inspected. */
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
