// What a request is for the gate, after it was read: it passes undecided, is refused, or is a call that
// the policy decides. Types only, for the steps of the call path.

import type { ProgramOrigin } from '@sluice/protocol/agent-calls'
import type { JsonRpcRequest, RequestId } from '@sluice/protocol/message'
import type { RpcReply } from '../shared/error-reply.ts'
import type { TraceContext } from '../shared/transport.ts'
import type { ApprovalRetryReply } from './client-prompts.ts'

/** A request that is neither decided nor recorded. */
export interface PassingRequest {
  readonly status: 'passes'
  /** The request of the receiver that it belongs to. */
  readonly request?: RequestId | undefined
  readonly trace?: TraceContext | undefined
  readonly message: JsonRpcRequest
}

export interface RefusedRequest {
  readonly status: 'refused'
  readonly reply: RpcReply
}

export interface ParsedCall extends Omit<PassingRequest, 'status'> {
  readonly status: 'call'
  /** `Mcp-Param-*` of the request; undefined if its transport has no headers. */
  readonly headers?: ReadonlyMap<string, string> | undefined
  readonly sender: 'client' | 'server'
  /** A further round of a call that was charged. */
  readonly continues: boolean
  readonly approvedFor?: string | undefined
  /** How often the server has wanted to know more before. */
  readonly rounds: number
  /** The client's program that makes the call. */
  readonly program?: ProgramOrigin | undefined
  /** The client comes back for a decision of an approver. */
  readonly retry?: ApprovalRetryReply | undefined
}

export type ParsedRequest =
  | PassingRequest
  | RefusedRequest
  | ParsedCall
  | { readonly status: 'check'; readonly check: () => Promise<PassingRequest | RefusedRequest> }
