// What the steps of the call path hand to each other: the call as it was read, the pipeline that every
// step works with, its approval, and the decision. Types only, so that the steps need not import each other for them.

import type { ApprovalVerdict } from '@sluice/access/approvals/approval'
import type { ApprovalSubmission } from '@sluice/access/approvals/approval-submission'
import type { ApprovalRequestResult } from '@sluice/access/approvals/engine'
import type { ApprovalUse } from '@sluice/access/approvals/recover'
import type { Person } from '@sluice/access/identity/person'
import type { DecisionEntry } from '@sluice/ledger/records/record'
import type {
  AdmissionStore,
  ApprovalUseRequest,
  SessionCheck,
} from '@sluice/ledger/store/admission'
import type { Call, Facts } from '@sluice/policy/calls/call'
import type { Instant } from '@sluice/policy/calls/clock'
import type { Receipt } from '@sluice/policy/calls/counters'
import type { ApprovalReference, Channel, Decision } from '@sluice/policy/calls/decision'
import type { KnownTool } from '@sluice/policy/calls/tools'
import type { Decimal } from '@sluice/policy/values/decimal'
import type { ProgramOrigin } from '@sluice/protocol/agent-calls'
import type { ParsedMembers } from '@sluice/protocol/message'
import type { CallInstrumentation, InstrumentedCall } from '../metrics/instrument-calls.ts'
import type { CallRecorder } from '../recordings/call-recorder.ts'
import type { CallOutcome } from '../shared/outcome.ts'
import type { TraceContext } from '../shared/transport.ts'
import type { Freeze, FreezeTarget } from '../state/freezes.ts'
import type { BoundPolicy } from '../state/policy-set.ts'
import type { PendingDefinition } from '../tools/pins.ts'

/** A call with what is known of it now. */
export interface CallRequest {
  readonly call: Call
  readonly facts: Facts
  /** The versions of the shared session by which the call is decided. */
  readonly checks?: readonly SessionCheck[] | undefined
  /** The text of the arguments; undefined if there are none. */
  readonly argsText: string | undefined
  /** The parameters as sent; undefined for requests of a server. */
  readonly params?: ParsedMembers | undefined
  /** The trace context of the caller, if it sent one. */
  readonly trace?: TraceContext | undefined
  /** The client's program that makes the call. */
  readonly program?: ProgramOrigin | undefined
  /** Why it is denied whatever the policy says; a hidden name stays hidden all the same. */
  readonly objection?: string | undefined
  /** No server has the target, so the call is answered as if it were hidden. */
  readonly missing?: boolean
  /** The definition of its tool waits for a person: the call is denied whatever the policy allows. */
  readonly pendingDefinition?: PendingDefinition | undefined
  /** A further round of a call that was charged: decided again, and not charged again. */
  readonly continues?: boolean
  /** Digest of the approval requirements that call met: the same requirements are met again. */
  readonly approvedFor?: string | undefined
  /** How it may wait for a person; undefined if nobody can be asked. */
  readonly waitOptions?: () => ApprovalWaitOptions
}

/** Refusals into the audit log; not waited for. */
export interface RefusalRecorder {
  refusal(entry: DecisionEntry): void
  /** Logs why a call is not made that can be recorded nowhere. */
  unrecorded(callId: string, why: string): void
}

export interface TraceParts {
  /** Records calls with their answers while a person has turned it on. */
  readonly recorder?: Pick<CallRecorder, 'isRecording' | 'take'> | undefined
  /** A call has arrived with the id that its client gave it, which hooks of the client name too. */
  readonly onToolUse?: ((id: string, call: Pick<Call, 'server' | 'name'>) => void) | undefined
  readonly onAdmitted?: OnAdmitted | undefined
}

/** Told of each call that may be made, before it is forwarded. */
export type OnAdmitted = (
  call: Call,
  params: ParsedMembers | undefined,
  admission: Admission,
) => void

export interface CallPipeline extends TraceParts {
  /** The policy that binds the caller, as it is now. */
  readonly policy: () => BoundPolicy
  readonly frozen: (who: FreezeTarget) => Freeze | undefined
  readonly admission: AdmissionStore<DecisionEntry>
  readonly record: RefusalRecorder
  readonly now: () => Instant
  readonly newId: () => string
  /** A call of this session carries a planted value. */
  readonly onCanary: (session: string, canary: string) => void
  /** The values of a decision are kept with their texts. */
  readonly keepsTexts: boolean
  readonly watch: CallInstrumentation
  readonly approvals: ApprovalParts
}

/** The approvals, as far as waiting needs them; an ApprovalEngine fits. */
export interface CallApprovals {
  ask(call: ApprovalSubmission): Promise<ApprovalRequestResult>
  settled(id: string, callId: string, became: ApprovalUse): void
  decide(id: string, verdict: ApprovalVerdict, who: Person, channel: Channel): Promise<unknown>
  change(id: string, waitMs: number): Promise<void>
  refuseEdited(id: string, why: string): void
  readonly isClosed: boolean
}

export interface ApprovalParts {
  readonly engine: CallApprovals
  /** Digest of a definition. */
  readonly pinOf: (tool: KnownTool) => string
  /** Returns the address of the page where a person decides a request; undefined if no page is served. */
  readonly urlOf: (id: string) => string | undefined
  /** The command that shows pending approvals, if there is no console. */
  readonly command: string
}

/** How one call may wait. */
export interface ApprovalWaitOptions {
  /** The members of `params`, as text. */
  readonly params: ReadonlyMap<string, string> | undefined
  /** How long it may be kept here, whatever the rules say. */
  readonly waitMsMax: (pending: PendingApproval) => number
  /** Somebody still waits for an answer. */
  readonly isWanted: () => boolean
  /** The call with arguments that an approver wrote. */
  readonly withArgs: ((args: string) => CallRequest) | undefined
  /** Puts it to the client itself: a page to open, or where the rule allows it a form. Not waited for;
   * returns what takes it back. */
  readonly askClient?: ((pending: PendingApproval) => () => void) | undefined
}

export interface PendingApproval extends ApprovalReference {
  readonly reason: string
  /** The rule lets the client decide. */
  readonly client: boolean
  /** How long the rules let a call wait. */
  readonly waitMs: number
}

/** An approval that covers a call. */
export interface ApprovalClaim {
  /** The approval that the store uses up; undefined for further rounds of an approved call. */
  readonly use?: Pick<ApprovalUseRequest, 'id' | 'isStanding'>
  settled(outcome: CallOutcome): void
  /** Digest of the requirements that it meets. */
  readonly asked: string
  /** The arguments that a person wrote, instead of those of the request. */
  readonly args: string | undefined
}

/** One call on its way, however often it is decided. */
export interface CallProgress {
  readonly callId: string
  readonly instrumented: InstrumentedCall
}

/** A call that may be forwarded: its intent is durable. */
export interface Admission {
  readonly callId: string
  /** Number of its intent in the audit log. */
  readonly intent: number
  readonly receipt: Receipt
  /** What the call costs, if a limit has a price for it. */
  readonly price?: Decimal | undefined
  readonly instrumented: InstrumentedCall
  /** See `Decision`. */
  readonly quiet?: true | undefined
  /** The approval that it uses; undefined if none was needed. */
  readonly approval?: ApprovalClaim | undefined
}

export interface RefusedCall {
  readonly admission?: undefined
  readonly decision: Decision
  readonly callId: string
  /** The approval is pending, and the caller may be asked to wait or to retry. */
  readonly pending?: PendingApproval | undefined
}

export interface AdmittedCall {
  readonly admission: Admission
  /** The call as it was decided last, with the arguments that are sent. */
  readonly request: CallRequest
}

export type AdmissionResult = AdmittedCall | (RefusedCall & { readonly request: CallRequest })
