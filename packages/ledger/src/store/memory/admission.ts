// Admission on one machine: limits are charged in memory, approvals used in gate.db, and the intent is
// durable in the audit log before the call is admitted. What was charged or used is undone if the
// intent cannot be written. Made once for each gate; the call path waits for it.

import type { Counters, LimitUsage, Receipt } from '@sluice/policy/calls/counters'
import type {
  AdmissionReply,
  AdmissionRequest,
  AdmissionStore,
  ApprovalUseRequest,
  ChargeRequest,
  ProbeRequest,
} from '../admission.ts'

/** The approvals, as far as admission needs them; an ApprovalEngine fits. */
export interface ApprovalUses {
  use(id: string, callId: string): boolean
  takeStanding(id: string, callId: string): boolean
  executing(id: string, callId: string, argsText: string | undefined): void
  settled(id: string, callId: string, became: 'not-sent'): void
}

export interface EmbeddedAdmissionParts<Entry> {
  readonly counters: Counters & LimitUsage
  readonly approvals: ApprovalUses
  /** The audit log: resolves with the number of the intent once it is durable. */
  readonly log: { intent(entry: Entry): Promise<number> }
}

export class EmbeddedAdmissionStore<Entry> implements AdmissionStore<Entry> {
  readonly #parts: EmbeddedAdmissionParts<Entry>

  constructor(parts: EmbeddedAdmissionParts<Entry>) {
    this.#parts = parts
  }

  get usage(): LimitUsage {
    return this.#parts.counters
  }

  /** Nothing is waited for before the intent is queued: no other call comes in between. */
  async admit(request: AdmissionRequest<Entry>): Promise<AdmissionReply> {
    if (request.mode === 'probe') return this.#probe(request)
    const { counters } = this.#parts
    const { approval, charges, now } = request
    const consumed = counters.consume(charges, now)
    if (!consumed.ok) {
      const room = charges.map((charge) => counters.look(charge, now))
      return { status: 'full', refused: consumed.refused, room }
    }
    const { receipt } = consumed
    let isUsed = false
    try {
      isUsed = approval !== undefined && this.#use(approval, request.callId)
      if (approval !== undefined && !isUsed) {
        counters.refund(receipt)
        return { status: 'approval-used' }
      }
      return { status: 'admitted', sequence: await this.#record(request), receipt }
    } catch (error) {
      counters.refund(receipt)
      if (isUsed) this.#giveApprovalBack(request)
      return { status: 'unavailable', why: (error as Error).message }
    }
  }

  async refund(receipt: Receipt): Promise<void> {
    this.#parts.counters.refund(receipt)
  }

  #probe({ charges, now }: ProbeRequest): AdmissionReply {
    const room = charges.map((charge) => this.usage.look(charge, now))
    const refused = room.findIndex(({ passes }) => !passes)
    return refused < 0 ? { status: 'fits' } : { status: 'full', refused, room }
  }

  #use({ id, isStanding }: ApprovalUseRequest, callId: string): boolean {
    const { approvals } = this.#parts
    return isStanding ? approvals.takeStanding(id, callId) : approvals.use(id, callId)
  }

  #record({ approval, callId, entry }: ChargeRequest<Entry>): Promise<number> {
    const { approvals, log } = this.#parts
    const written = log.intent(entry)
    if (approval === undefined) return written
    try {
      // In the same commit as the intent.
      approvals.executing(approval.id, callId, approval.argsText)
      return written
    } catch (error) {
      return written.then(() => Promise.reject(error))
    }
  }

  /** An approval that cannot be given back stays used: the call it was for is not made. */
  #giveApprovalBack({ approval, callId }: ChargeRequest<Entry>): void {
    try {
      this.#parts.approvals.settled(approval?.id as string, callId, 'not-sent')
    } catch {}
  }
}
