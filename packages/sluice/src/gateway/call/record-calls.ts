// Calls into the ledger: the intent before anything is forwarded, the outcome after. What an agent
// sent is kept as a digest, never as text.

import { performance } from 'node:perf_hooks'
import { displayName } from '../../core/display-name.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import { type DecisionEntry, digestText } from '../../ledger/records/record.ts'
import type { Log } from '../shared/log.ts'
import type { CallOutcome } from '../shared/outcome.ts'
import type { CallRecorder, DecidedCall } from './admit.ts'

export class LedgerCallRecorder implements CallRecorder {
  readonly #ledger: Ledger
  readonly #log: Log

  constructor(ledger: Ledger, log: Log) {
    this.#ledger = ledger
    this.#log = log
  }

  intent(
    judged: DecidedCall,
    written: (seq: number) => void,
    failed: (error: Error) => void,
  ): void {
    this.#ledger.intentThen(this.#judgement(judged), written, failed)
  }

  refusal(judged: DecidedCall): void {
    this.#ledger.refuse(this.#judgement(judged)).catch((error: Error) => {
      const about = { call: judged.callId, why: error.message }
      this.#log('error', 'a refusal could not be recorded', about)
    })
  }

  outcome(intent: number, startedMs: number, outcome: CallOutcome): void {
    const { status, bytes, errorCode, labels, givenBack } = outcome
    const durationMs = Math.round(performance.now() - startedMs)
    const said = { atMs: Date.now(), status, durationMs, bytes, errorCode, labels, givenBack }
    this.#ledger.outcome(intent, said)
  }

  #judgement({
    call,
    callId,
    facts,
    decision,
    policy,
    values,
    argsText,
    now,
  }: DecidedCall): DecisionEntry {
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
      policy,
      decision,
      judged: values,
      argsDigest: argsDigestOf(call, argsText),
    }
  }
}

/** The URI of a resource is its argument: the name on record is only what may be shown of it. */
function argsDigestOf({ method, name }: DecidedCall['call'], argsText: string | undefined) {
  if (method.startsWith('resources/')) return digestText(name)
  return argsText === undefined ? null : digestText(argsText)
}
