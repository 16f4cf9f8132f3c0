// The records of the ledger. An intent is written before anything is forwarded, an outcome after
// it, a refusal alone; events are about the gate itself. Arguments and responses are never stored,
// only digests of their text and the values that expressions read (`record: judged`).

import { hash } from 'node:crypto'
import type { Decision, ShadowDecision } from '@sluice/policy/calls/decision'
import type { DecisionInputs } from '@sluice/policy/calls/decision-inputs'
import type { Category } from '@sluice/policy/calls/tools'
import type { JsonValue } from '@sluice/policy/values/json'
import type { AnswerChange } from './answer-changes.ts'
import type { CallIdentity } from './call-title.ts'

export const STATUSES = ['answered', 'error', 'cancelled', 'unknown', 'gone'] as const
/**
 * `unknown`: it may or may not have had its effect. `gone`: the peer disconnected before a
 * response.
 */
export type Status = (typeof STATUSES)[number]

/** The decision as recorded; a `Decision` of the policy engine fits. `limits` are the charges that were
 * consumed: counters are rebuilt from them after a restart. `approvers` is not stored: their tokens are in the reason. */
export interface RecordedDecision
  extends Pick<Decision, 'action' | 'rule' | 'reason' | 'guardrails' | 'limits' | 'approvers'> {
  readonly code: string
  /** `limits` of each only if they were consumed. */
  readonly shadow: readonly (Omit<ShadowDecision, 'code'> & { readonly code: string })[]
}

export interface DecisionEntry extends CallIdentity {
  readonly atMs: number
  readonly principal: { readonly id: string; readonly kind: string }
  readonly category: Category | null
  /** The category was a guess: the call got the stricter of the decisions for it and for Execute. */
  readonly unknown?: boolean
  /** The document that decided: its name and digest, as in the event `policy`. */
  readonly policy: string
  readonly decision: RecordedDecision
  readonly judged: DecisionInputs
  /** `digestText` of the text of the arguments; null if the call has none. */
  readonly argsDigest: string | null
  /** The call of `run_code` whose program made this one. */
  readonly parent?: string
  /** The request for approval, or the standing approval, that the decision is about: that the call waits for, was
   * refused by, or is made with. Records of older versions have none. */
  readonly approval?: string
}

export interface OutcomeEntry {
  readonly atMs: number
  readonly status: Status
  readonly durationMs: number
  /** The size of the response in bytes. */
  readonly bytes: number
  /** The code of a JSON-RPC error. */
  readonly errorCode: number | null
  readonly digest: string | null
  /** The labels that the response added to the session. */
  readonly labels: readonly string[]
  readonly attempts: number
  /** No byte left the gate, so the charges were refunded. */
  readonly givenBack: boolean
  /** The changes that `answers` of the policy made in the response. */
  readonly changes: readonly AnswerChange[]
}

/** The required fields of an outcome; the rest defaults to nothing, one attempt, no refund. */
export type OutcomeInput = Pick<OutcomeEntry, 'atMs' | 'status'> & {
  readonly [Field in keyof OutcomeEntry]?: OutcomeEntry[Field] | undefined
}

/** Ends the id of a standing approval; before it is the id of the request that it was given with. */
export const STANDING_END = '-while'

/** The event of a question that the gate answered in the place of a client's user. Its detail has the number of the
 * intent as `call`. */
export const QUIET_EVENT = 'quiet'

export interface GateEvent {
  readonly atMs: number
  /** `start`, `stop`, `policy`, `freeze`, `recovery`, ... */
  readonly name: string
  readonly detail: JsonValue
}

export type LedgerEntry =
  | (DecisionEntry & { readonly kind: 'intent' | 'refusal' })
  | (OutcomeEntry & { readonly kind: 'outcome'; readonly intent: number })
  | (GateEvent & { readonly kind: 'event' })

/** An entry at its position in the chain. `gate` is given where there are records of several. */
export type LedgerRecord = LedgerEntry & { readonly seq: number; readonly gate?: string }
export type DecisionRecord = Extract<LedgerRecord, DecisionEntry>
export type OutcomeRecord = Extract<LedgerRecord, OutcomeEntry>

const NO_CHANGES: readonly AnswerChange[] = []

export function outcomeEntry(
  intent: number,
  outcome: OutcomeInput,
): Extract<LedgerEntry, OutcomeEntry> {
  // Field by field: a spread of two shapes costs several times as much, and every call has one.
  return {
    kind: 'outcome',
    intent,
    atMs: outcome.atMs,
    status: outcome.status,
    durationMs: outcome.durationMs ?? 0,
    bytes: outcome.bytes ?? 0,
    errorCode: outcome.errorCode ?? null,
    digest: outcome.digest ?? null,
    labels: outcome.labels ?? [],
    attempts: outcome.attempts ?? 1,
    givenBack: outcome.givenBack ?? false,
    changes: outcome.changes ?? NO_CHANGES,
  }
}

/** SHA-256 of a text (as UTF-8) or of bytes, base64url. */
export function digestText(text: string | Uint8Array): string {
  return hash('sha256', text, 'base64url')
}
