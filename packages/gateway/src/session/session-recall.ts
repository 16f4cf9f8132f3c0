// What a session remembers for its rules: where values came from, and what it called before. Nothing is
// done, and nothing kept, if no rule of the policy reads it. One for each relay.

import type { LabelScope, SessionLease } from '@sluice/access/identity/sessions/session-lease'
import type { Call, Facts } from '@sluice/policy/calls/call'
import type { Instant } from '@sluice/policy/calls/clock'
import type { CompiledPolicy } from '@sluice/policy/model/policy'
import { findReads } from '@sluice/policy/model/policy-reads'
import type { SessionProvenance } from '@sluice/policy/provenance/session-provenance'
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
    const session = lease.facts(nowMs, scope)
    const past = findReads(policy()).past ? lease.past() : undefined
    return {
      session: past === undefined ? session : { ...session, past },
      provenance: originsFor(this.provenance(), program),
    }
  }

  /** A call is forwarded. */
  readonly onCall = ({ server, name }: Pick<Call, 'server' | 'name'>): void => {
    const { lease, policy, now } = this.#options
    lease.used()
    if (findReads(policy()).past) lease.remember({ server, name, atMs: now().monotonicMs })
  }

  readonly onPrompt = (text: string): void => {
    if (!this.#options.canSayPrompt()) return
    const memory = this.provenance()
    if (memory?.addPrompt(text)) this.#options.lease.remembered()
  }
}
