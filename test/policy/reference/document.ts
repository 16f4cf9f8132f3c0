// The shapes the reference works on: a policy document as a plain object whose `when`s are ASTs,
// and what the reference says about a call. Shared by all files of this folder.

import type { Action } from '@sluice/policy/calls/actions'
import type { DecisionCode } from '@sluice/policy/calls/decision'
import type { Category } from '@sluice/policy/calls/tools'
import type { Ast } from './expression.ts'

export interface RefLimit {
  max: number
  window: number | string
  per?: string | string[]
  /** Spend limits only: `args.a`, `args.a * args.b` or `args.a * 0.01`. */
  amount?: string
}

export interface RefRule {
  action: Action
  reason?: string
  when?: Ast
  otherwise?: Action
  rate_limit?: RefLimit | RefLimit[]
  spend_limit?: RefLimit | RefLimit[]
  approval?: Record<string, unknown>
  extra_args?: 'allow'
  over?: Category[]
  mode?: 'enforce' | 'shadow'
}

export interface RefMatch {
  categories?: Category[]
  tools?: string[]
  servers?: string[]
  methods?: string[]
}

export interface RefGuardrail extends Omit<RefRule, 'action' | 'otherwise' | 'over'> {
  name: string
  match?: RefMatch
  action?: Exclude<Action, 'allow'>
}

export type RefRules = Record<string, Action | RefRule>

/** The strictest first. */
export const REF_ARGUMENT_ROLES = ['address', 'recipient', 'id', 'text', 'none'] as const
export type RefArgumentRole = (typeof REF_ARGUMENT_ROLES)[number]

export interface RefDocument {
  version: 1
  default: Action
  mode?: 'enforce' | 'shadow'
  categories?: RefRules
  tools?: RefRules
  guardrails?: RefGuardrail[]
  labels?: Record<string, string[]>
  classify?: Record<string, Category>
  egress?: Record<string, string[]>
  protect?: 'balanced' | 'strict'
  destinations?: Record<string, Record<string, RefArgumentRole>>
  methods?: RefRules
  resources?: RefRules
  prompts?: RefRules
}

/** Which counter: all fields together name it. */
export interface RefCounter {
  /** Pointer of the rule, or name of the guardrail. */
  by: string
  kind: 'rate' | 'spend'
  windowMs: number
  /** What `per` names and what is counted: tells apart two limits of one rule. */
  of: string
  /** The values of what `per` names, in order. */
  per: string[]
}

/** `max` and `amount` are plain decimals without needless zeros. */
export interface RefTake extends RefCounter {
  max: string
  amount: string
}

export interface RefEvent extends RefCounter {
  atMs: number
  amount: string
}

export interface RefVerdict {
  action: Action
  code: DecisionCode
  rule: string
  charges: RefTake[]
}

export interface RefDecision extends RefVerdict {
  guardrails: string[]
  /** By pointer. Their takes are consumed beside the call's, each verdict's all or none. */
  shadow: RefVerdict[]
  /** For the mix table only: globs that count, and `when`s that could not be decided. */
  notes: { globs: number; undecidable: number }
}
