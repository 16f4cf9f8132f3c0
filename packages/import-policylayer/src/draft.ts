// The policy as it is being translated: checks (one for each rule of the original), and what
// becomes of them in our language. All formats end here; emit-document.ts writes it as YAML.

export type ImportLimitScope = 'everyone' | 'principal' | 'session'

export interface ImportLimit {
  /** A sum over this argument; calls are counted where it is left out. */
  readonly amount?: string
  readonly max: number
  /** `1m`, `1h`, `1d`, or seconds. */
  readonly window: string | number
  readonly per: ImportLimitScope
}

/** One rule of the original. */
export interface Check {
  readonly name: string
  readonly comments: readonly string[]
  readonly reason?: string | undefined
  /** Denies every call. */
  readonly denies: boolean
  /** Expressions that must all be true, or the call is denied. */
  readonly pass: readonly string[]
  /** Expressions that hold the call if all are true, or cannot be decided. */
  readonly match: readonly string[]
  readonly held: 'deny' | 'require_approval'
  readonly approvalTimeout?: string | undefined
  readonly limits: readonly ImportLimit[]
}

export interface RuleBody {
  readonly action?: 'allow' | 'deny' | 'hide' | 'require_approval'
  readonly reason?: string | undefined
  readonly when?: string | undefined
  readonly approvalTimeout?: string | undefined
  readonly limits?: readonly ImportLimit[]
}

export interface DraftRule {
  /** `<server>/<tool>`, or `<server>/*`. */
  readonly tools: string
  /** The name of a guardrail; other rules have none. */
  readonly name?: string
  readonly comments: readonly string[]
  readonly body: RuleBody
  /** Where it stands in the original. */
  readonly at: number
}

export interface ImportDraft {
  readonly comments: string[]
  readonly tools: DraftRule[]
  readonly guardrails: DraftRule[]
  /** The names of guardrails so far: each must be unique. */
  readonly names: Set<string>
}
