// Records of the ledger as the console shows them: a call in a row, and one call with everything that
// is known of its decision. Reads nothing itself.

import { describeLimitKey } from '@sluice/gateway/alerts/describe-limit'
import type { RecordOrigin } from '@sluice/ledger/merged/origins'
import type { CallWithOutcome } from '@sluice/ledger/query/query'
import { commandLineOf } from '@sluice/ledger/records/call-title'
import { toOutcomeLabel } from '@sluice/ledger/records/outcome-label'
import { listIndexedValues } from '@sluice/ledger/records/recorded-values'
import { shadowText } from '@sluice/ledger/records/shadow-text'
import { formatDecimal } from '@sluice/policy/core/decimal'
import { type DecisionInput, isOmittedInput } from '@sluice/policy/core/decision-inputs'
import { ExactNumber } from '@sluice/policy/core/json'
import { pickDefined } from '@sluice/policy/core/pick-defined'
import type { ruleTextOf } from './rule-text.ts'

export type CallRecord = ReturnType<typeof callRecord>
export type CallExplanation = ReturnType<typeof explainCall>

/** What a record alone does not say. */
export interface CallContext {
  /** The client of the session, marked as self-reported; missing if the ledger does not say. */
  readonly sessionName?: string
  /** Where gates share a store: whose record it is, and its number in the chain of that gate. */
  readonly origin?: RecordOrigin
}

export function callRecord({ record, outcome }: CallWithOutcome, context: CallContext = {}) {
  const { decision } = record
  return {
    ...context,
    // The line of a shell command, and the call of `run_code` whose program made it.
    ...pickDefined({
      commandLine: commandLineOf(record.name, record.judged),
      parent: record.parent,
    }),
    shadowText: shadowText(decision.shadow),
    seq: record.seq,
    kind: record.kind,
    callId: record.callId,
    atMs: record.atMs,
    principal: record.principal.id,
    agent: record.agent,
    session: record.session,
    server: record.server,
    method: record.method,
    name: record.name,
    category: record.category,
    unknown: record.unknown === true,
    word: toOutcomeLabel(decision.action, decision.code),
    code: decision.code,
    rule: decision.rule,
    reason: decision.reason,
    // Null while it is open.
    status: outcome?.status ?? null,
    durationMs: outcome?.durationMs ?? null,
    policy: record.policy,
    argsDigest: record.argsDigest,
    // What its answer brought into the session.
    labels: outcome?.labels ?? [],
    // Arguments that rules read, by path: numbers and short texts.
    values: Object.fromEntries(listIndexedValues(record.judged)),
  }
}

export function explainCall(
  called: CallWithOutcome,
  ruleText: ReturnType<typeof ruleTextOf>,
  context: CallContext,
) {
  const { record, outcome } = called
  const { guardrails, limits, shadow } = record.decision
  return {
    ...callRecord(called, context),
    guardrails: guardrails.map(({ name, rule, action, undecided }) => ({
      name,
      rule,
      undecided,
      action: action ?? null,
    })),
    limits: limits.map(({ key, amount, max }) => ({
      key,
      ...describeLimitKey(key),
      amount: formatDecimal(amount),
      max: formatDecimal(max),
    })),
    shadow: shadow.map(({ rule, action, reason }) => ({ rule, action, reason })),
    // The arguments that the decision was reached from, by path; others are not stored.
    judged: Object.entries(record.judged).map(([path, value]) => ({
      path,
      value: formatInput(value),
    })),
    outcome:
      outcome === null
        ? null
        : {
            seq: outcome.seq,
            atMs: outcome.atMs,
            status: outcome.status,
            durationMs: outcome.durationMs,
            bytes: outcome.bytes,
            errorCode: outcome.errorCode,
            labels: outcome.labels,
            attempts: outcome.attempts,
            givenBack: outcome.givenBack,
            changes: outcome.changes,
          },
    // The rule as written in the document in force, if it is still there.
    ruleText,
  }
}

function formatInput(value: DecisionInput): string {
  if (value instanceof ExactNumber) return value.text
  if (isOmittedInput(value)) return `(${value.is})`
  return JSON.stringify(value)
}
