// Approval requests as people and channels see them: the request, its votes, and the service by
// which console, terminal and channels list, watch and decide. Stored and enforced by the module
// `approvals`; only that module lets a call with a pending approval pass.

import type { CallIdentity } from '@sluice/ledger/records/call-title'
import type { ApprovalRequirement, Channel } from '@sluice/policy/calls/decision'
import type { LineFamily } from '@sluice/policy/readers/shell-family'
import type { Person, ProofMethod } from '../identity/person.ts'
import type { CommandView } from './command-line.ts'

export const APPROVAL_STATES = [
  'pending',
  'approved',
  'denied',
  'expired',
  'void',
  'executed',
  'unknown',
] as const
/**
 * `void`: what was requested is no longer what would be done. `unknown`: it was sent, and its
 * outcome is unknown: a person has to check.
 */
export type ApprovalState = (typeof APPROVAL_STATES)[number]

export interface Vote {
  readonly by: string
  readonly kind: Person['kind']
  readonly proof: ProofMethod
  readonly channel: Channel
  readonly verdict: 'approve' | 'deny'
  readonly comment: string
  readonly atMs: number
  /** Its approver may no longer decide: it does not count. */
  readonly gone?: true
}

/** What one rule requires, and whose approval counts for it so far. */
export interface RequirementStatus extends ApprovalRequirement {
  readonly approvedBy: readonly string[]
}

/** The call that was submitted first, and its caller: the same from submission to display. */
export interface ApprovalSubject extends CallIdentity {
  readonly principal: { readonly id: string; readonly kind: string }
  /** What the session is called; the client's part of it is its own word. */
  readonly sessionName?: string
  readonly category: string | null
  readonly risk: string | null
  /** The category is a guess, and so is the risk. */
  readonly unknown?: boolean
  /** What the name can be mistaken for, and is not. */
  readonly looksLike?: string
}

/** A masked part: a JSON pointer into `params`, and the first masked character of the text. */
export interface MaskedPart {
  readonly path: string
  readonly from: number
  readonly characters: number
}

/** The first parts, how many there are, and how many characters all of them cover. */
export interface MaskedArguments {
  readonly parts: readonly MaskedPart[]
  readonly count: number
  readonly characters: number
}

/** What is sent, with nothing masked. */
export interface RevealedArguments {
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
  /** JSON text of what will be sent, secrets masked; empty once it is decided and deleted. */
  readonly args: string
  /**
   * JSON text of what will be sent besides name and arguments, masked alike; empty if that is
   * nothing, and once it is deleted.
   */
  readonly rest: string
  /** What of both an approver does not see. */
  readonly masked: MaskedArguments
  /** If the call is a shell command. */
  readonly command?: CommandView
  /** The beginning of the client's program that made the call, secrets masked. */
  readonly program?: string
  /** An approver edited the arguments: the call is sent with these. */
  readonly edited: boolean
  /** The number of edits: an approval states which version was seen. */
  readonly edits: number
  /** Earlier calls of the session, the newest last. */
  readonly before: readonly PriorCall[]
  /** The call that used the approval. */
  readonly usedBy: string | null
  /** Why it is void, denied or unknown, as text; otherwise empty. */
  readonly why: string
}

export interface PriorCall {
  readonly atMs: number
  readonly server: string
  readonly name: string
  readonly action: string
}

/**
 * Allowed values of an argument under a standing approval; texts are JSON, numbers keep their
 * digits.
 */
export type ArgumentBound =
  | { readonly min?: string; readonly max?: string }
  | { readonly oneOf: readonly string[] }
  | { readonly any: true }
  /** The families that the command line of a coding agent may be of. Each is the words that a program starts
   * with, as plain texts; after a last `*` any words may follow. */
  | { readonly lines: readonly LineFamily[] }
  /** The directory that an absolute path is, or that it is below, as a plain text. */
  | { readonly below: string }

/**
 * Approves calls like this one for a limited time: every argument equal, except those with a bound.
 */
export interface StandingTerms {
  readonly forMs: number
  /** Maximum number of uses; unlimited if absent. */
  readonly calls?: number
  /** Only in the session of the call that is decided. */
  readonly session?: boolean
  /** The bounds of arguments, by name. */
  readonly bounds?: Readonly<Record<string, ArgumentBound>>
}

export interface ApprovalVerdict {
  readonly verdict: 'approve' | 'deny'
  readonly comment?: string
  /**
   * `edits` of the version that was seen, 0 if absent: an approval of arguments that another
   * approver has edited since does not count for the new ones.
   */
  readonly edits?: number
  /** JSON text of the arguments to send instead of the submitted ones. */
  readonly args?: string
  readonly forAWhile?: StandingTerms
}

export interface ApprovalFilter {
  readonly states?: readonly ApprovalState[]
  readonly server?: string
  readonly principal?: string
  /** Only requests that have this text in what a person reads of them. */
  readonly text?: string
  /** Requests that have `text` in what the ledger has of their arguments, by id. */
  readonly recorded?: Pick<ReadonlyMap<string, unknown>, 'has'>
  /** Only requests older than this one are listed: the next page. */
  readonly before?: string
  readonly limit?: number
}

/** An approval that is reused within bounds. */
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
  /** How often it may be used; null if unlimited. */
  readonly calls: number | null
  /** The only session that may use it; null if any may. */
  readonly session: string | null
}

/** A tool that was denied to a session too often to be requested again. */
export interface ApprovalBlock {
  readonly session: string
  readonly server: string
  /** The tool; for command lines with what they start, as in `Bash: git push`. */
  readonly name: string
  readonly denials: number
}

export interface ApprovalService {
  /** The newest first. A page of long calls is shorter than `limit`. */
  list(filter?: ApprovalFilter): Promise<readonly ApprovalRequest[]>
  /** How many there are on all pages. */
  count(filter: ApprovalFilter): Promise<number>
  idsStartingWith(prefix: string): readonly string[]
  find(id: string): ApprovalRequest | undefined
  readonly pendingCount: number
  /** When the oldest was created that may still lead to a call. */
  readonly oldestOpenMs: number | undefined
  /** What is sent, unmasked; recorded in the ledger before it is returned. */
  reveal(id: string, who: Person): Promise<RevealedArguments>
  /** Throws OperationError: not pending, may not decide, arguments that may not be edited, ... */
  decide(
    id: string,
    verdict: ApprovalVerdict,
    who: Person,
    channel: Channel,
  ): Promise<ApprovalRequest>
  /**
   * Called for every change of a request, including its creation. Returns a function that ends the
   * watch.
   */
  watch(listener: (request: ApprovalRequest) => void): () => void
  readonly standing: readonly StandingApproval[]
  endStanding(id: string, who: Person): Promise<void>
  readonly barred: readonly ApprovalBlock[]
  lift(barred: Pick<ApprovalBlock, 'session' | 'server' | 'name'>, who: Person): Promise<void>
}

/** A notification channel. A failure is recorded in the ledger, and the next channel is tried. */
export interface Notifier {
  readonly channel: Channel
  notify(request: ApprovalRequest): Promise<void>
}
