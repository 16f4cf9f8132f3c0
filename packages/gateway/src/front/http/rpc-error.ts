// Errors of the HTTP front as JSON-RPC responses. What was thrown becomes an answer here and nowhere else: a fault of
// the store is an outage, which the client may wait for, and its cause is for the log.

import { UNAVAILABLE_RETRY_MS } from '@sluice/ledger/store/limits'
import { describeToCaller, isOutage } from '@sluice/ledger/store/outage'
import type { RequestId } from '@sluice/protocol/message'
import { RPC } from '@sluice/protocol/rpc-codes'
import { writeError } from '@sluice/protocol/write-message'
import { buildOutageReply } from '../../shared/error-reply.ts'
import { JSON_TYPE, type ResponseWriter } from '../exchange/response-writer.ts'

export interface RpcErrorOptions {
  /** That of the status if it is not said: a fault of the gate from 500 on, otherwise one of the request. */
  readonly code?: number
  readonly id?: RequestId | null | undefined
}

export interface FaultOptions {
  /** The id of the request, if it was read. */
  readonly id?: RequestId | null | undefined
  /** Told of an outage, whose cause is in no answer. */
  readonly onOutage: (error: Error) => void
}

export function writeRpcError(
  reply: ResponseWriter,
  status: number,
  message: string,
  { code = status < 500 ? RPC.invalidRequest : RPC.internal, id = null }: RpcErrorOptions = {},
): void {
  if (reply.isBegun) return reply.destroy()
  reply.send(status, JSON_TYPE, writeError(id, code, message))
}

/** See `buildOutageReply`. A gate that stops answers without Retry-After, see `forward-requests.ts`. */
export function writeOutage(
  reply: ResponseWriter,
  reason: string,
  id: RequestId | null = null,
): void {
  if (reply.isBegun) return reply.destroy()
  const headers = { ...JSON_TYPE, 'retry-after': String(UNAVAILABLE_RETRY_MS / 1_000) }
  reply.send(503, headers, buildOutageReply(id, reason).text)
}

/** Answers with what was thrown. */
export function writeFault(
  reply: ResponseWriter,
  error: Error,
  { id = null, onOutage }: FaultOptions,
): void {
  const text = describeToCaller(error)
  if (!isOutage(error)) return writeRpcError(reply, 500, text, { id })
  onOutage(error)
  writeOutage(reply, text, id)
}
