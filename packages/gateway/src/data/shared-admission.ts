// Admission at a gate that shares its store: the database charges and counts, and what it admitted by an
// approval is noted in the approval here, from where every gate learns of it.

import type {
  AdmissionReply,
  AdmissionRequest,
  AdmissionStore,
} from '@sluice/ledger/store/admission'
import type { ApprovalUses } from '@sluice/ledger/store/memory/admission'
import type { LimitUsage, Receipt } from '@sluice/policy/calls/counters'

export class SharedAdmissionStore<Entry> implements AdmissionStore<Entry> {
  readonly #inner: AdmissionStore<Entry>
  readonly #approvals: ApprovalUses

  constructor(inner: AdmissionStore<Entry>, approvals: ApprovalUses) {
    this.#inner = inner
    this.#approvals = approvals
  }

  get usage(): LimitUsage {
    return this.#inner.usage
  }

  async admit(request: AdmissionRequest<Entry>): Promise<AdmissionReply> {
    const reply = await this.#inner.admit(request)
    if (reply.status === 'admitted' && request.mode === 'charge') this.#note(request)
    return reply
  }

  refund(receipt: Receipt): Promise<void> {
    return this.#inner.refund(receipt)
  }

  /** The database has counted the use: what cannot be noted is still used. */
  #note({ approval, callId }: AdmissionRequest<Entry> & { readonly mode: 'charge' }): void {
    if (approval === undefined) return
    const { argsText, id, isStanding } = approval
    try {
      if (isStanding) this.#approvals.takeStanding(id, callId)
      else this.#approvals.use(id, callId)
      this.#approvals.executing(id, callId, argsText)
    } catch {}
  }
}
