// A decision is a value: what happens to one call, which rule says so and why. It is made by the
// policy engine, carried out by the gate, kept by the ledger and shown to people.

import type { Action } from './actions.ts'
import type { LimitCharge } from './counters.ts'
import type { ERRORS } from './errors.ts'

/**
 * Stable code of a decision; the errors page explains each.
 *
 * @example
 * ```ts
 * if (decision.code === 'RATE_LIMITED') await wait(decision.retryAfterMs)
 * ```
 */
export type DecisionCode = 'ALLOWED' | 'APPROVED' | 'POLICY_FAULT' | keyof typeof ERRORS

export const CHANNELS = ['console', 'terminal', 'webhook', 'email', 'client'] as const
export type Channel = (typeof CHANNELS)[number]

/**
 * What one rule requires of approvers. Every rule that requires approval must be satisfied by itself.
 *
 * @example
 * ```ts
 * for (const { rule, quorum } of decision.approvals) console.log(rule, 'needs', quorum)
 * ```
 */
export interface ApprovalRequirement {
  readonly rule: string
  readonly reason: string
  readonly timeoutMs: number
  readonly waitMs: number
  /** Empty: anybody with the approver's role. */
  readonly approvers: readonly string[]
  readonly quorum: number
  readonly channels: readonly Channel[]
  readonly separateDuties: boolean
  readonly editArgs: boolean
  /** The rule as it is written: another text is another rule that asks. */
  readonly says: string
}

/**
 * A guardrail that applied to the call.
 *
 * @example
 * ```ts
 * console.log(decision.guardrails.map(({ name }) => name))
 * ```
 */
export interface GuardrailMatch {
  readonly name: string
  readonly rule: string
  /** Absent where the guardrail only limits. */
  readonly action?: Action
  /** Its `when` could not be decided, so it counts as matched. */
  readonly undecided: boolean
}

/**
 * What a rule in shadow mode would have decided.
 *
 * @example
 * ```ts
 * for (const { rule, action } of decision.shadow) console.log(rule, 'would have said', action)
 * ```
 */
export interface ShadowDecision {
  readonly rule: string
  readonly action: Action
  readonly code: DecisionCode
  readonly reason: string
  /** Consumed on their own, all or none, beside the call's. */
  readonly limits: readonly LimitCharge[]
}

/**
 * What happens to one call, which rule says so, and why.
 *
 * @example
 * ```ts
 * const { action, code, rule, reason } = evaluate(policy, call)
 * ```
 */
export interface Decision {
  readonly action: Action
  readonly code: DecisionCode
  /** JSON Pointer into the document; `house:` before it where the house document said so. */
  readonly rule: string
  readonly reason: string
  readonly guardrails: readonly GuardrailMatch[]
  /** To be consumed in one step before the call goes on; empty unless it may go on. */
  readonly limits: readonly LimitCharge[]
  readonly retryAfterMs: number
  /** What the limit that was met has left, as a decimal. */
  readonly remaining?: string
  readonly approvals: readonly ApprovalRequirement[]
  readonly shadow: readonly ShadowDecision[]
  /** The request that a person was asked with, where there is one. */
  readonly approval?: ApprovalReference
}

export interface ApprovalReference {
  readonly id: string
  /** Where a person decides. */
  readonly url?: string
  /** The call that has used it. */
  readonly usedBy?: string
}
