// Calls into the ledger: the intent before anything is forwarded, the outcome after. What an agent
// sent is kept as a digest, never as text.

import { performance } from 'node:perf_hooks'
import { displayName } from '../../core/display-name.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import { digestOf, type Judgement } from '../../ledger/records/record.ts'
import type { Log } from '../shared/log.ts'
import type { Outcome } from '../shared/outcome.ts'
import type { CallRecord, Judged } from './admit.ts'

export class LedgerRecord implements CallRecord {
  readonly #ledger: Ledger
  readonly #log: Log

  constructor(ledger: Ledger, log: Log) {
    this.#ledger = ledger
    this.#log = log
  }

  intent(judged: Judged, written: (seq: number) => void, failed: (error: Error) => void): void {
    this.#ledger.intentThen(this.#judgement(judged), written, failed)
  }

  refusal(judged: Judged): void {
    this.#ledger.refuse(this.#judgement(judged)).catch((error: Error) => {
      const about = { call: judged.callId, why: error.message }
      this.#log('error', 'a refusal could not be recorded', about)
    })
  }

  outcome(intent: number, startedMs: number, outcome: Outcome): void {
    const { status, bytes, errorCode, labels, givenBack } = outcome
    const durationMs = Math.round(performance.now() - startedMs)
    const said = { atMs: Date.now(), status, durationMs, bytes, errorCode, labels, givenBack }
    this.#ledger.outcome(intent, said)
  }

  #judgement({ call, callId, facts, decision, policy, values, argsText, now }: Judged): Judgement {
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
function argsDigestOf({ method, name }: Judged['call'], argsText: string | undefined) {
  if (method.startsWith('resources/')) return digestOf(name)
  return argsText === undefined ? null : digestOf(argsText)
}
