// Held calls as people and channels see them: the request, the votes on it, and the one object by
// which console, terminal and channels list, watch and decide. Kept and enforced by the room
// `approvals`; the gate asks there, nobody else lets a held call pass.

import type { ApprovalRequirement, Channel } from '@sluice/policy/core/decision'
import type { Person, ProofMethod } from './person.ts'

export const APPROVAL_STATES = [
  'pending',
  'approved',
  'denied',
  'expired',
  'void',
  'executed',
  'unknown',
] as const
/** `void`: what was asked for no longer is what would be done. `unknown`: it was sent, and nobody
 * knows what became of it: a person has to look. */
export type ApprovalState = (typeof APPROVAL_STATES)[number]

export interface Vote {
  readonly by: string
  readonly kind: Person['kind']
  readonly proof: ProofMethod
  readonly channel: Channel
  readonly verdict: 'approve' | 'deny'
  readonly comment: string
  readonly atMs: number
  /** Whoever gave it may no longer decide: it counts for nothing. */
  readonly gone?: true
}

/** What one rule asks, and whose approval counts for it so far. */
export interface RequirementStatus extends ApprovalRequirement {
  readonly approvedBy: readonly string[]
}

/** Which call it is about, and whose: the same from being held to being shown. */
export interface ApprovalSubject {
  /** The call that asked first. */
  readonly callId: string
  readonly principal: { readonly id: string; readonly kind: string }
  readonly agent: string | null
  readonly session: string
  readonly server: string
  readonly method: string
  readonly name: string
  readonly category: string | null
  readonly risk: string | null
  /** The class is a guess, and so is the risk. */
  readonly unknown?: boolean
  /** What the name can be mistaken for, and is not. */
  readonly looksLike?: string
}

/** Where something is masked: a JSON pointer into `params`, and from which character of the text on. */
export interface MaskedPart {
  readonly path: string
  readonly from: number
  readonly characters: number
}

/** The first parts, how many there are, and how many characters all of them cover. */
export interface Masked {
  readonly parts: readonly MaskedPart[]
  readonly count: number
  readonly characters: number
}

/** What is sent, with nothing masked. */
export interface Revealed {
  readonly args: string
  readonly rest: string
}

export interface ApprovalRequest extends ApprovalSubject {
  readonly id: string
  readonly state: ApprovalState
  readonly atMs: number
  readonly expiresAtMs: number
  /** Each must be satisfied by its own approvers and quorum. */
  readonly asks: readonly RequirementStatus[]
  readonly votes: readonly Vote[]
  /** JSON text of what will be sent, secrets masked; empty once it is decided and not kept. */
  readonly args: string
  /** JSON text of what will be sent beside name and arguments, masked alike; empty where that is
   * nothing, and once it is not kept. */
  readonly rest: string
  /** What of both an approver does not see. */
  readonly masked: Masked
  /** An approver changed the arguments: the call goes with these. */
  readonly edited: boolean
  /** How often that happened: an approval says which of them was seen. */
  readonly edits: number
  /** What the session did before, the newest last. */
  readonly before: readonly PriorCall[]
  /** The call that used the approval. */
  readonly usedBy: string | null
  /** Why it is void, denied or unknown, in words; empty elsewhere. */
  readonly why: string
}

export interface PriorCall {
  readonly atMs: number
  readonly server: string
  readonly name: string
  readonly action: string
}

/** What an argument may be while an approval lasts; texts are JSON, numbers keep their digits. */
export type ArgumentBound =
  | { readonly min?: string; readonly max?: string }
  | { readonly oneOf: readonly string[] }
  | { readonly any: true }

/** Approves calls like this one for a while: every argument equal, but for those with a bound. */
export interface StandingTerms {
  readonly forMs: number
  /** At most so many; as many as come where it is left out. */
  readonly calls?: number
  /** By the name of the argument. */
  readonly bounds?: Readonly<Record<string, ArgumentBound>>
}

export interface ApprovalVerdict {
  readonly verdict: 'approve' | 'deny'
  readonly comment?: string
  /** `edits` of the request that was seen, none where it is left out: a yes to arguments that another
   * approver has changed since is no yes to those. */
  readonly edits?: number
  /** JSON text of the arguments to send in place of those that were asked for. */
  readonly args?: string
  readonly forAWhile?: StandingTerms
}

export interface ApprovalFilter {
  readonly states?: readonly ApprovalState[]
  readonly server?: string
  readonly principal?: string
  /** Those older than this request: the next page. */
  readonly before?: string
  readonly limit?: number
}

/** An approval that holds for a while. */
export interface StandingApproval {
  readonly id: string
  readonly principal: string
  readonly server: string
  readonly name: string
  /** The bounds, and for every other argument its exact JSON. */
  readonly bounds: Readonly<Record<string, ArgumentBound>>
  readonly by: readonly string[]
  readonly untilMs: number
  readonly used: number
  /** How often it may be used; null where that is not bounded. */
  readonly calls: number | null
}

/** A tool that a session was denied too often to ask for it again. */
export interface ApprovalBlock {
  readonly session: string
  readonly server: string
  readonly name: string
  readonly denials: number
}

export interface ApprovalService {
  /** The newest first. */
  list(filter?: ApprovalFilter): readonly ApprovalRequest[]
  find(id: string): ApprovalRequest | undefined
  /** What is sent, with what is masked elsewhere; on record before it is given. */
  reveal(id: string, who: Person): Promise<Revealed>
  /** Throws `Refused`: not pending, may not decide, arguments that may not be changed, ... */
  decide(
    id: string,
    verdict: ApprovalVerdict,
    who: Person,
    channel: Channel,
  ): Promise<ApprovalRequest>
  /** Every change of a request, its making included. Returns what ends the watch. */
  watch(listener: (request: ApprovalRequest) => void): () => void
  readonly standing: readonly StandingApproval[]
  endStanding(id: string, who: Person): Promise<void>
  readonly barred: readonly ApprovalBlock[]
  lift(barred: Pick<ApprovalBlock, 'session' | 'server' | 'name'>, who: Person): Promise<void>
}

/** A way to tell people. Where it fails that is said on the record, and the next is tried. */
export interface Notifier {
  readonly channel: Channel
  tell(request: ApprovalRequest): Promise<void>
}
