// Rules in the engine's representation, after the document was read and checked: created by
// compile/parse-rule.ts, evaluated by decide/decide.ts.

import type { Action } from '../calls/actions.ts'
import type { ApprovalRequirement } from '../calls/decision.ts'
import { CHANNELS } from '../calls/decision.ts'
import type { Category } from '../calls/tools.ts'
import type { Expression } from '../expression/expression.ts'
import type { LastRead } from '../expression/read-last.ts'
import { pathText } from '../language/argument-path.ts'
import type { Glob } from '../language/glob.ts'
import type { Decimal } from '../values/decimal.ts'

/** What partitions a counter. `args` parts have the path they read. */
export type CounterScope =
  | { readonly by: 'session' | 'principal' | 'agent' | 'server' | 'tool' | 'everyone' }
  | { readonly by: 'args'; readonly path: readonly string[] }

/** A path, a path times a path or a number, or a number: the price of each call. */
export interface Amount {
  readonly factors: readonly (readonly string[] | Decimal)[]
}

export interface Limit {
  readonly kind: 'rate' | 'spend'
  readonly max: Decimal
  /** The field of an earlier answer that is the maximum, in place of `max`. */
  readonly maxOf?: {
    readonly read: LastRead
    /** Its offset in the document. */
    readonly at: number
  }
  readonly windowMs: number
  readonly per: readonly CounterScope[]
  readonly amount?: Amount
  /** The arguments that `per` and `amount` name, with their offsets into the document. */
  readonly reads: readonly { readonly path: readonly string[]; readonly at: number }[]
  /** The counter's name: rule, kind, window, per and amount, but neither `max` nor order. */
  readonly id: string
  /** The limit as people read it, such as `10 in 60s per session`. */
  readonly text: string
  /** Cached keys, by what `per` names. */
  readonly keys: Map<string, string>
}

/**
 * What a rule requires of the approvers, without the rule itself, which is added when it applies.
 */
export type Approval = Omit<ApprovalRequirement, 'rule' | 'reason' | 'says'>

interface RuleBase {
  /** JSON Pointer. */
  readonly pointer: string
  /** Offset into the document, of the key or entry. */
  readonly at: number
  readonly reason: string
  /** `placeOf`: maps an offset into the expression to one into the document. */
  readonly when?: { readonly expression: Expression; readonly placeOf: (offset: number) => number }
  readonly limits: readonly Limit[]
  readonly approval: Approval
  readonly extraArgs: boolean
  readonly shadow: boolean
}

export interface Rule extends RuleBase {
  readonly key: string
  /** Absent for an exact name, a category or a method. */
  readonly glob?: Glob
  readonly action: Action
  readonly otherwise: Action
  readonly over: ReadonlySet<Category>
}

export interface Guardrail extends RuleBase {
  readonly name: string
  readonly action?: Action
  readonly match: {
    readonly categories?: readonly string[]
    readonly tools?: readonly Glob[]
    readonly servers?: readonly string[]
    readonly methods?: readonly string[]
  }
}

export const APPROVAL_DEFAULT: Approval = {
  timeoutMs: 600_000,
  waitMs: 25_000,
  approvers: [],
  quorum: 1,
  channels: CHANNELS.filter((channel) => channel !== 'client'),
  separateDuties: false,
  editArgs: false,
}

export function partText(part: CounterScope): string {
  return part.by === 'args' ? pathText(part.path) : part.by
}
