// The numbers a JSON-RPC error carries, and the one place where the codes of the house become such
// numbers. A number says what kind of thing went wrong; the code of the house goes beside it, in
// `data`. Pure.

import type { ERRORS as DECISIONS } from '@sluice/policy/core/errors'
import type { WireErrorCode } from './json/errors.ts'

export const RPC = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  /** As MCP has it up to 2025-11-25. */
  resourceNotFound: -32002,
  /** As only 2025-11-25 has it. */
  urlElicitationRequired: -32042,
  /** As MCP has them from 2026-07-28. */
  headerMismatch: -32020,
  missingCapability: -32021,
  unsupportedVersion: -32022,
  /** Outside of what JSON-RPC and MCP keep for themselves (-32768 to -32000). */
  denied: -31001,
  limited: -31002,
  approvalRequired: -31003,
  frozen: -31004,
} as const

export type RpcCode = (typeof RPC)[keyof typeof RPC]

/** What a peer can be told of: refusals of the wire, decisions, and the engine's own fault. */
export type LocalCode = WireErrorCode | keyof typeof DECISIONS | 'POLICY_FAULT'

const BY_LOCAL_CODE: Readonly<Record<LocalCode, keyof typeof RPC>> = {
  WIRE_SYNTAX: 'parse',
  WIRE_LONE_SURROGATE: 'parse',
  WIRE_UTF8: 'parse',
  WIRE_DOUBLED_KEY: 'invalidRequest',
  WIRE_NUMBER: 'invalidRequest',
  WIRE_DEPTH: 'invalidRequest',
  WIRE_SIZE: 'invalidRequest',
  WIRE_ENVELOPE: 'invalidRequest',
  WIRE_VERSION: 'invalidRequest',
  WIRE_ID: 'invalidRequest',
  WIRE_METHOD: 'invalidRequest',
  WIRE_PARAMS: 'invalidParams',
  WIRE_CASE_TWIN: 'invalidRequest',
  WIRE_BATCH: 'invalidRequest',
  WIRE_LINE_LENGTH: 'invalidRequest',
  WIRE_EVENT_SIZE: 'invalidRequest',
  DENIED: 'denied',
  RATE_LIMITED: 'limited',
  SPEND_LIMITED: 'limited',
  APPROVAL_REQUIRED: 'approvalRequired',
  APPROVAL_PENDING: 'approvalRequired',
  APPROVAL_DENIED: 'denied',
  APPROVAL_EXPIRED: 'denied',
  APPROVAL_USED: 'denied',
  APPROVAL_LIMITED: 'limited',
  DEFINITION_CHANGED: 'denied',
  FROZEN: 'frozen',
  POLICY_FAULT: 'internal',
}

export function rpcCodeOf(code: LocalCode): RpcCode {
  return RPC[BY_LOCAL_CODE[code]]
}
