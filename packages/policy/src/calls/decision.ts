// A decision is a value: what happens to one call, by which rule and why. The policy engine makes
// it, the gate enforces it, the ledger records it and the console shows it.

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
  /** Who may decide; if the list is empty, anyone with the approver role. */
  readonly approvers: readonly string[]
  readonly quorum: number
  readonly channels: readonly Channel[]
  readonly separateDuties: boolean
  readonly editArgs: boolean
  /** Canonical text of the rule. A different text is a different requirement. */
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
  /** Absent if the guardrail only limits. */
  readonly action?: Action
  /** Its `when` could not be evaluated, so it counts as matched. */
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
  /** Consumed separately from the call's own charges, all or none. */
  readonly limits: readonly LimitCharge[]
}

/**
 * What happens to one call, by which rule, and why.
 *
 * Code that replaces a decision copies its members: a new member must be cleared there if it belongs to the
 * rule. In this package `decide/`, in the gate `toDenial` (gateway/call/decide-call.ts) and await-approval.ts.
 *
 * @example
 * ```ts
 * const { action, code, rule, reason } = evaluate(policy, call)
 * ```
 */
export interface Decision {
  readonly action: Action
  readonly code: DecisionCode
  /** JSON Pointer into the document, prefixed with `house:` if the base policy decided. */
  readonly rule: string
  readonly reason: string
  /** The reason says which call to make first, so that no other advice is needed. */
  readonly isAdvice?: true
  readonly guardrails: readonly GuardrailMatch[]
  /** The charges that are consumed atomically before the call is forwarded; empty if it may not be forwarded. */
  readonly limits: readonly LimitCharge[]
  readonly retryAfterMs: number
  /** What the exceeded limit has left, as a decimal. */
  readonly remaining?: string
  readonly approvals: readonly ApprovalRequirement[]
  readonly shadow: readonly ShadowDecision[]
  /** The approval request, if there is one. */
  readonly approval?: ApprovalReference
  /** The people whom the reason names because they approved or denied the call. */
  readonly approvers?: NamedApprovers
  /** The policy lets the gate answer the client's own question about this call, within what `mayAnswer` of the
   * gateway allows. */
  readonly quiet?: true
}

/** Names in a reason. The ledger writes tokens in their place. */
export interface NamedApprovers {
  /** In the reason they are joined by `, `. */
  readonly names: readonly string[]
  /** Where the first of them begins in the reason. */
  readonly at: number
}

export interface ApprovalReference {
  readonly id: string
  /** Where an approver decides. */
  readonly url?: string
  /** The call that has claimed the approval. */
  readonly usedBy?: string
}
