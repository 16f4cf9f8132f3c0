// A call that a rule submits for approval, and its identity: the same caller, tool and members of
// `params` except `_meta`, in a form that keeps the digits of numbers. Created by the gateway.

import { hash } from 'node:crypto'
import { digestText } from '@sluice/ledger/records/record'
import type { ApprovalRequirement } from '@sluice/policy/calls/decision'
import type { ApprovalSubject } from './approval.ts'
import { toCanonicalJsonText } from './json-text.ts'

export interface ApprovalSubmission extends ApprovalSubject {
  /** Digest of the tool's definition; empty if it is not a tool. */
  readonly pin: string
  /** Text of every member of `params` except `_meta` and `arguments`, as one object. */
  readonly rest: string
  /** Text of the arguments; empty if there are none. */
  readonly args: string
  readonly asks: readonly ApprovalRequirement[]
  /** Text of the client's program that made the call. */
  readonly program?: string | undefined
  /** The id of the new request, unless one with it exists. */
  readonly id?: string | undefined
}

/** The id of the request for approval of an agent's call: after a crash the agent finds the request by it. */
export function toRequestId(effectId: string): string {
  return hash('sha256', effectId).slice(0, 12)
}

/** Identifies the call, independent of the rules that require approval. */
export function digestSubmission({
  principal,
  agent,
  server,
  method,
  name,
  rest,
  args,
}: ApprovalSubmission): string {
  const sent = [toCanonicalJsonText(rest), args === '' ? '' : toCanonicalJsonText(args)]
  return digestText(JSON.stringify([principal.id, agent, server, method, name, ...sent]))
}

/**
 * Digest of the requirements: canonical rules and guardrails with their approvers, in any order.
 */
export function digestRequirements(asks: readonly ApprovalRequirement[]): string {
  return digestText(JSON.stringify(asks.map(({ says }) => says).sort()))
}
