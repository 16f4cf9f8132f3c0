// A call that a rule wants a person to approve, and what identifies it: the same caller, tool and
// members of `params` but `_meta`, in a form that keeps the digits of numbers. Made by the gateway.

import type { ApprovalAsk } from '@sluice/policy/core/decision'
import type { CallHeld } from '../core/approval.ts'
import { digestOf } from '../ledger/records/record.ts'
import { canonicalText } from './json-text.ts'

export interface HeldCall extends CallHeld {
  /** Digest of the tool's definition; empty for what is no tool. */
  readonly pin: string
  /** Text of every member of `params` but `_meta` and `arguments`, as one object. */
  readonly rest: string
  /** Text of the arguments; empty where there are none. */
  readonly args: string
  readonly asks: readonly ApprovalAsk[]
}

/** Which call it is, whatever asked for a person. */
export function keyOf({ principal, agent, server, method, name, rest, args }: HeldCall): string {
  const sent = [canonicalText(rest), args === '' ? '' : canonicalText(args)]
  return digestOf(JSON.stringify([principal.id, agent, server, method, name, ...sent]))
}

/** What asked: rules and guardrails as they are written, with whom they ask, in no order. */
export function askedOf(asks: readonly ApprovalAsk[]): string {
  return digestOf(JSON.stringify(asks.map(({ says }) => says).sort()))
}
