// JSON-RPC error numbers, and the one place that maps the gate's error codes to them. The number
// states the kind of error; the gate's code is in `data`. Pure.

import type { ERRORS as DECISIONS } from '@sluice/policy/calls/errors'
import type { WireErrorCode } from './json/errors.ts'

export const RPC = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  /** MCP up to 2025-11-25. */
  resourceNotFound: -32002,
  /** MCP 2025-11-25 only. */
  urlElicitationRequired: -32042,
  /** MCP from 2026-07-28 on. */
  headerMismatch: -32020,
  missingCapability: -32021,
  unsupportedVersion: -32022,
  /** Outside of the ranges reserved by JSON-RPC and MCP (-32768 to -32000). */
  denied: -31001,
  limited: -31002,
  approvalRequired: -31003,
  frozen: -31004,
} as const

export type RpcCode = (typeof RPC)[keyof typeof RPC]

/** What a peer can receive: rejections of the wire, decisions, and the engine's own fault. */
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
  GATE_UNAVAILABLE: 'internal',
  POLICY_FAULT: 'internal',
}

export function toRpcCode(code: LocalCode): RpcCode {
  return RPC[BY_LOCAL_CODE[code]]
}
