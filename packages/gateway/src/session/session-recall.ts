// What a session remembers for its rules: where values came from, and what it called before. Nothing is
// done, and nothing kept, if no rule of the policy reads it. One for each relay.

import type { LabelScope, SessionLease } from '@sluice/access/identity/sessions/session-lease'
import type { Call, Facts, SessionFacts } from '@sluice/policy/calls/call'
import type { Instant } from '@sluice/policy/calls/clock'
import type { CompiledPolicy } from '@sluice/policy/model/policy'
import { findReads, type PolicyReads } from '@sluice/policy/model/policy-reads'
import { toCallDigest } from '@sluice/policy/provenance/call-digest'
import type { SessionProvenance } from '@sluice/policy/provenance/session-provenance'
import type { Decimal } from '@sluice/policy/values/decimal'
import type { ProgramOrigin } from '@sluice/protocol/agent-calls'
import { originsFor } from './program-origins.ts'

export interface RecallOptions {
  readonly lease: SessionLease
  readonly policy: () => CompiledPolicy
  readonly now: () => Instant
  /** What the client says that the user asked for counts. */
  readonly canSayPrompt: () => boolean
}

export class SessionRecall {
  readonly #options: RecallOptions

  constructor(options: RecallOptions) {
    this.#options = options
  }

  /** Undefined if no rule reads it. */
  readonly provenance = (): SessionProvenance | undefined => {
    const { lease, policy } = this.#options
    return findReads(policy()).provenance ? lease.provenance() : undefined
  }

  /** What rules read of the session. */
  facts(
    nowMs: number,
    scope: LabelScope,
    program?: ProgramOrigin,
  ): Pick<Facts, 'session' | 'provenance'> {
    const { lease, policy } = this.#options
    const plain = lease.facts(nowMs, scope)
    const reads = findReads(policy())
    const readsMore = reads.past || reads.repeats || reads.tokens || reads.values.size > 0
    const session = readsMore ? { ...plain, ...this.#pastFacts(reads) } : plain
    return { session, provenance: originsFor(this.provenance(), program) }
  }

  /** What a rule reads of earlier calls and answers. */
  #pastFacts(reads: PolicyReads): Pick<SessionFacts, 'past' | 'values' | 'repeats' | 'tokens'> {
    const { lease } = this.#options
    return {
      past: reads.past ? lease.past() : undefined,
      values: reads.values.size > 0 ? lease.values(reads.valuesText) : undefined,
      repeats:
        reads.repeats && !lease.isSplit ? (call) => lease.repeats(toCallDigest(call)) : undefined,
      tokens: reads.tokens ? lease.tokens : undefined,
    }
  }

  /** A call is forwarded. */
  readonly onCall = (call: Call, price: Decimal | undefined): void => {
    const { server, name } = call
    const { lease, policy, now } = this.#options
    const reads = findReads(policy())
    lease.used(price)
    if (reads.repeats) lease.noteRepeated(toCallDigest(call))
    if (reads.past) lease.remember({ server, name, atMs: now().monotonicMs })
  }

  readonly onPrompt = (text: string): void => {
    if (!this.#options.canSayPrompt()) return
    const memory = this.provenance()
    if (memory?.addPrompt(text)) this.#options.lease.remembered()
  }
}
