// A call that a rule wants a person to approve, and what identifies it: the same caller, tool and
// members of `params` but `_meta`, in a form that keeps the digits of numbers. Made by the gateway.

import type { ApprovalRequirement } from '@sluice/policy/core/decision'
import type { ApprovalSubject } from '../core/approval.ts'
import { digestText } from '../ledger/records/record.ts'
import { toCanonicalJsonText } from './json-text.ts'

export interface ApprovalSubmission extends ApprovalSubject {
  /** Digest of the tool's definition; empty for what is no tool. */
  readonly pin: string
  /** Text of every member of `params` but `_meta` and `arguments`, as one object. */
  readonly rest: string
  /** Text of the arguments; empty where there are none. */
  readonly args: string
  readonly asks: readonly ApprovalRequirement[]
}

/** Which call it is, whatever asked for a person. */
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

/** What asked: rules and guardrails as they are written, with whom they ask, in no order. */
export function digestRequirements(asks: readonly ApprovalRequirement[]): string {
  return digestText(JSON.stringify(asks.map(({ says }) => says).sort()))
}
