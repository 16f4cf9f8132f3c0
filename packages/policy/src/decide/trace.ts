// The steps of a decision, for people. Filled in by the evaluation itself; costs nothing unless
// requested.

import type { Action } from '../calls/actions.ts'
import type { DecisionCode } from '../calls/decision.ts'
import type { Category } from '../calls/tools.ts'
import type { ConditionResult } from '../expression/evaluate/evaluate.ts'

/**
 * One step of the way to a decision.
 *
 * @example
 * ```ts
 * const trace: TraceStep[] = []
 * decide(policy, call, facts, counters, now, trace)
 * ```
 */
export type TraceStep =
  | {
      readonly step: 'category'
      readonly category: Category
      readonly by: 'document' | 'catalogue' | 'method'
    }
  | {
      /** The call is decided as this category too: the tool's is a guess, or the arguments make the call worse. */
      readonly step: 'unknown' | 'call'
      readonly category: Category
      readonly action: Action
      readonly rule: string
    }
  | { readonly step: 'aside'; readonly rule: string; readonly why: string }
  | {
      readonly step: 'rule'
      readonly rule: string
      readonly when?: string
      readonly result?: ConditionResult['is']
      readonly why?: string
      readonly action: Action
    }
  | { readonly step: 'default'; readonly action: Action }
  | {
      readonly step: 'guardrail'
      readonly name: string
      readonly rule: string
      readonly when?: string
      readonly result?: ConditionResult['is']
      readonly why?: string
      readonly matched: boolean
      readonly action?: Action
    }
  | {
      readonly step: 'limit'
      readonly rule: string
      readonly limit: string
      readonly key: string
      readonly amount: string
      readonly remaining: string
      readonly passes: boolean
      readonly retryAfterMs: number
    }
  | {
      readonly step: 'shadow'
      readonly rule: string
      readonly action: Action
      readonly code: DecisionCode
    }
  | {
      readonly step: 'decision'
      readonly action: Action
      readonly code: DecisionCode
      readonly rule: string
      readonly reason: string
    }
