// Calls into the audit log: entries for intents and refusals, and the outcome after the answer. What an
// agent sent is kept as a digest, never as text. Intents are written by the admission store.

import { performance } from 'node:perf_hooks'
import { displayName } from '@sluice/access/identity/display-name'
import type { Ledger } from '@sluice/ledger/ledger'
import { type AnswerChange, describeChanges } from '@sluice/ledger/records/answer-changes'
import { type DecisionEntry, digestText } from '@sluice/ledger/records/record'
import type { DecisionInputs } from '@sluice/policy/calls/decision-inputs'
import { collectInputs } from '@sluice/policy/decide/collect-inputs'
import type { Log } from '../shared/log.ts'
import type { OutageLog } from '../shared/outage-log.ts'
import type { CallOutcome } from '../shared/outcome.ts'
import type { CallPipeline, CallRequest, RefusalRecorder } from './call-request.ts'
import type { DecidedCall } from './decide-call.ts'

export class LedgerCallRecorder implements RefusalRecorder {
  readonly #ledger: Pick<Ledger, 'refuse' | 'outcome' | 'event'>
  readonly #log: Log
  readonly #outages: OutageLog

  constructor(
    ledger: Pick<Ledger, 'refuse' | 'outcome' | 'event'>,
    { log, outages }: { readonly log: Log; readonly outages: OutageLog },
  ) {
    this.#ledger = ledger
    this.#log = log
    this.#outages = outages
  }

  refusal(entry: DecisionEntry): void {
    this.#ledger.refuse(entry).catch((error: Error) => {
      const { message } = error
      this.#outages.warn(`the refusal of the call ${entry.callId} cannot be recorded: ${message}`)
    })
  }

  unrecorded(callId: string, why: string): void {
    this.#outages.warn(`the call ${callId} cannot be recorded, so it is not made: ${why}`)
  }

  outcome(intent: number, startedMs: number, outcome: CallOutcome): void {
    const { status, bytes, errorCode, labels, givenBack, changes } = outcome
    const durationMs = Math.round(performance.now() - startedMs)
    const entry = { atMs: Date.now(), status, durationMs, bytes, errorCode, labels, givenBack }
    this.#ledger.outcome(intent, changes === undefined ? entry : { ...entry, changes })
  }

  /** Records labels that a session received without a call. */
  labels(session: string, server: string, labels: readonly string[]): void {
    const detail = { session, server, labels: [...labels] }
    this.#ledger.event({ atMs: Date.now(), name: 'labels', detail }).catch((error: Error) => {
      this.#log('error', 'labels could not be recorded', { session, why: error.message })
    })
  }

  /** Records what `answers` changed in messages that answer no call: notifications, questions, lists. */
  changes(session: string, server: string, changes: readonly AnswerChange[]): void {
    const detail = { session, server, changes: describeChanges(changes) }
    this.#ledger.event({ atMs: Date.now(), name: 'answers', detail }).catch((error: Error) => {
      const about = { session, why: error.message }
      this.#log('error', 'changes of messages could not be recorded', about)
    })
  }
}

export interface EntryOptions {
  readonly pipeline: Pick<CallPipeline, 'keepsTexts'>
  readonly decided: DecidedCall
  readonly callId: string
}

export function toEntry({ pipeline, decided, callId }: EntryOptions): DecisionEntry {
  const { bound, decision, now, request } = decided
  const approval = decision.approval?.id ?? decided.approval?.use?.id
  const { argsText, call, facts, program } = request
  return {
    atMs: now.wallMs,
    callId,
    principal: { id: facts.principal.id, kind: facts.principal.kind },
    agent: facts.agent?.id ?? null,
    session: facts.session.id,
    server: call.server,
    method: call.method,
    name: displayName(call.method, call.name),
    category: facts.tool?.category ?? null,
    unknown: facts.tool?.unknown === true,
    policy: bound.id,
    decision,
    judged: decision.code === 'FROZEN' ? {} : inputsOf(decided, pipeline.keepsTexts),
    argsDigest: argsDigestOf(call, argsText),
    ...(program === undefined ? {} : { parent: program.parent }),
    ...(approval === undefined ? {} : { approval }),
  }
}

/** The entry of a call must not fail by what would be kept beside it. */
function inputsOf({ bound, now, request }: DecidedCall, texts: boolean): DecisionInputs {
  try {
    return collectInputs(bound.policy, request.call, request.facts, { texts, now })
  } catch {
    return {}
  }
}

/** The URI of a resource is its argument: the name in the entry is only what may be shown of it. */
function argsDigestOf({ method, name }: CallRequest['call'], argsText: string | undefined) {
  if (method.startsWith('resources/')) return digestText(name)
  return argsText === undefined ? null : digestText(argsText)
}
