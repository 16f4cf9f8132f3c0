// Records of the ledger as the console shows them: a call in a row, and one call with everything that
// is known of its decision. Reads nothing itself.

import { describeLimitKey } from '@sluice/gateway/alerts/describe-limit'
import type { RecordOrigin } from '@sluice/ledger/merged/origins'
import type { CallWithOutcome } from '@sluice/ledger/query/query'
import { type CallIdentity, type CallTarget, findTarget } from '@sluice/ledger/records/call-title'
import { type HeldCallRefusal, MADE_AGAIN } from '@sluice/ledger/records/held-calls'
import { type OutcomeLabel, toOutcomeLabel } from '@sluice/ledger/records/outcome-label'
import type { OutcomeRecord, RecordedDecision, Status } from '@sluice/ledger/records/record'
import { listApprovers, listIndexedValues } from '@sluice/ledger/records/recorded-values'
import { shadowText } from '@sluice/ledger/records/shadow-text'
import type { Action } from '@sluice/policy/calls/actions'
import type { GuardrailMatch } from '@sluice/policy/calls/decision'
import { type DecisionInput, isOmittedInput } from '@sluice/policy/calls/decision-inputs'
import type { Category } from '@sluice/policy/calls/tools'
import { pickDefined } from '@sluice/policy/structures/pick-defined'
import { formatDecimal } from '@sluice/policy/values/decimal'
import { ExactNumber } from '@sluice/policy/values/json'
import type { RuleText } from './rule-text.ts'

/** What a record alone does not say. */
export interface CallContext {
  /** The client of the session, marked as self-reported; missing if the ledger does not say. */
  readonly sessionName?: string
  /** If it was held, and is refused. */
  readonly refusal?: HeldCallRefusal
  /** Where gates share a store: whose record it is, and its number in the chain of that gate. */
  readonly origin?: RecordOrigin
}

/** A recorded call in a row of a list. */
export interface CallRecord extends CallContext, CallIdentity, CallTarget {
  /** The call of `run_code` whose program made this call. */
  readonly parent?: string
  /** The approval request, or the standing approval, that the decision is about. */
  readonly approval?: string
  /** The number of the record. */
  readonly seq: number
  readonly atMs: number
  readonly category: Category | null
  /** Name and digest of the document that decided. */
  readonly policy: string
  /** Null if the call has no arguments. */
  readonly argsDigest: string | null
  /** What rules in shadow mode would have done; empty if none matched. */
  readonly shadowText: string
  readonly principal: string
  /** The category is a guess. */
  readonly unknown: boolean
  readonly word: OutcomeLabel
  readonly code: string
  readonly rule: string
  readonly reason: string
  /** How the call ended; null while it is open. */
  readonly status: Status | null
  readonly durationMs: number | null
  /** Who approved it; empty if nobody had to. */
  readonly approvers: readonly string[]
  /** Kinds of data that were removed from the answer, and how often. */
  readonly redacted: readonly string[]
  /** Labels that the answer brought into the session. */
  readonly labels: readonly string[]
  /** Arguments that rules read, by path: numbers and short texts. */
  readonly values: Readonly<Record<string, number | string>>
}

/** One call with everything that is known of its decision. */
export interface CallExplanation extends CallRecord {
  /** The guardrails that looked at the call. */
  readonly guardrails: readonly GuardrailMatch[]
  /** The limits that the call was counted by. */
  readonly limits: readonly {
    readonly key: string
    /** The key in words: the rule, and whose counter it is. */
    readonly limit: string
    readonly whose: string
    /** 0 if the key does not say. */
    readonly windowMs: number
    readonly amount: string
    readonly max: string
  }[]
  readonly shadow: readonly {
    readonly rule: string
    readonly action: Action
    readonly reason: string
  }[]
  /** The arguments that the decision was reached from, by path; others are not stored. */
  readonly judged: readonly { readonly path: string; readonly value: string }[]
  /** What the record of the outcome says; null while the call is open. */
  readonly outcome: OutcomeRecord | null
  /** The rule as it was written when it decided, if the text is still known. */
  readonly ruleText: RuleText | null
}

export function callRecord(
  { record, outcome, became }: CallWithOutcome,
  context: CallContext = {},
): CallRecord {
  const { server, method, name, callId, agent, session, seq, atMs, category } = record
  const { parent, approval, policy, argsDigest, decision } = record
  const call = { server, method, name, callId, agent, session, seq, atMs, category }
  return {
    ...context,
    ...findTarget(record),
    ...call,
    ...pickDefined({ parent, approval }),
    policy,
    argsDigest,
    principal: record.principal.id,
    unknown: record.unknown === true,
    shadowText: shadowText(decision.shadow),
    word: toOutcomeLabel(became, decision.code),
    code: decision.code,
    rule: decision.rule,
    reason: explainReason(decision, became, context),
    status: outcome?.status ?? null,
    durationMs: outcome?.durationMs ?? null,
    approvers: listApprovers(decision),
    redacted: (outcome?.changes ?? []).map(({ kind, count }) => `${count} x ${kind}`),
    labels: outcome?.labels ?? [],
    values: Object.fromEntries(listIndexedValues(record.judged)),
  }
}

/** What a held call's own reason says is meant for the model. */
function explainReason(
  { code, reason }: RecordedDecision,
  became: string,
  { refusal }: CallContext,
): string {
  if (refusal !== undefined) return refusal.text
  if (code !== 'APPROVAL_PENDING') return reason
  if (became === MADE_AGAIN) return 'was held, and made again'
  return became === 'deny' ? 'was not approved' : 'was held for approval'
}

export function explainCall(
  called: CallWithOutcome,
  ruleText: RuleText | null,
  context: CallContext,
): CallExplanation {
  const { record, outcome } = called
  const { guardrails, limits, shadow } = record.decision
  return {
    ...callRecord(called, context),
    guardrails,
    limits: limits.map(({ key, amount, max }) => ({
      key,
      ...describeLimitKey(key),
      amount: formatDecimal(amount),
      max: formatDecimal(max),
    })),
    shadow: shadow.map(({ rule, action, reason }) => ({ rule, action, reason })),
    judged: Object.entries(record.judged).map(([path, value]) => ({
      path,
      value: formatInput(value),
    })),
    outcome,
    ruleText,
  }
}

function formatInput(value: DecisionInput): string {
  if (value instanceof ExactNumber) return value.text
  if (isOmittedInput(value)) return `(${value.is})`
  return JSON.stringify(value)
}
