// The policy as it is being translated: checks (one for each rule of the original), and what
// becomes of them in our language. Both formats end here; emit-document.ts writes it as YAML.

export type Window = '1m' | '1h' | '1d'
export type ImportLimitScope = 'everyone' | 'principal' | 'session'

export interface ImportLimit {
  readonly max: number
  /** Or seconds. */
  readonly window: Window | number
  readonly per: ImportLimitScope
  /** A sum over this argument; calls are counted where it is left out. */
  readonly amount?: string
}

/** One rule of the original. */
export interface Check {
  readonly name: string
  readonly comments: readonly string[]
  readonly reason: string | undefined
  /** Denies every call. */
  readonly denies: boolean
  /** Expressions that must all be true, or the call is denied. */
  readonly pass: readonly string[]
  /** Expressions that hold the call if all are true, or cannot be decided. */
  readonly match: readonly string[]
  readonly held: 'deny' | 'require_approval'
  readonly approvalTimeout?: string
  readonly limits: readonly ImportLimit[]
}

export interface RuleBody {
  readonly action?: 'allow' | 'deny' | 'hide' | 'require_approval'
  readonly reason?: string
  readonly when?: string
  readonly extra_args?: 'allow'
  readonly approval?: { readonly timeout: string }
  readonly limits?: readonly ImportLimit[]
}

export interface DraftTool {
  readonly key: string
  readonly comments: readonly string[]
  readonly body: RuleBody
  /** Where the tool stands in the original. */
  readonly at: number
}

export interface DraftGuardrail {
  readonly name: string
  readonly comments: readonly string[]
  readonly tools: string
  readonly body: RuleBody
  /** Where the rule stands in the original. */
  readonly at: number
}

export interface ImportDraft {
  readonly comments: string[]
  readonly tools: DraftTool[]
  readonly guardrails: DraftGuardrail[]
  /** Of guardrails, to keep them unique. */
  readonly names: Set<string>
}

export const EMPTY_CHECK: Omit<Check, 'name'> = {
  comments: [],
  reason: undefined,
  denies: false,
  pass: [],
  match: [],
  held: 'deny',
  limits: [],
}
