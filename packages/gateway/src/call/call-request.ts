// What the steps of the call path hand to each other: the call as it was read, the pipeline that every
// step works with, and the decision. Types only.

import type { DecisionEntry } from '@sluice/ledger/records/record'
import type { AdmissionStore, SessionCheck } from '@sluice/ledger/store/admission'
import type { Call, Facts } from '@sluice/policy/core/call'
import type { Instant } from '@sluice/policy/core/clock'
import type { Receipt } from '@sluice/policy/core/counters'
import type { Decision } from '@sluice/policy/core/decision'
import type { ProgramOrigin } from '@sluice/protocol/agent-calls'
import type { ParsedMembers } from '@sluice/protocol/message'
import type { CallInstrumentation, InstrumentedCall } from '../metrics/instrument-calls.ts'
import type { TraceContext } from '../shared/transport.ts'
import type { Freeze, FreezeTarget } from '../state/freezes.ts'
import type { BoundPolicy } from '../state/policy-set.ts'
import type { PendingDefinition } from '../tools/pins.ts'
import type { TraceRecorder } from '../traces/trace-recorder.ts'
import type {
  ApprovalClaim,
  ApprovalParts,
  ApprovalWaitOptions,
  PendingApproval,
} from './await-approval.ts'

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
  readonly held?: PendingDefinition | undefined
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
  readonly traces?: Pick<TraceRecorder, 'isRecording' | 'take'> | undefined
  /** A call has arrived with the id that its client gave it, which hooks of the client name too. */
  readonly onToolUse?: ((id: string, call: Pick<Call, 'server' | 'name'>) => void) | undefined
}

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

/** One call on its way, however often it is decided. */
export interface TrackedCall {
  readonly callId: string
  readonly watched: InstrumentedCall
}

/** A call that may be forwarded: its intent is durable. */
export interface Admission {
  readonly callId: string
  /** Number of its intent in the audit log. */
  readonly intent: number
  readonly receipt: Receipt
  readonly watched: InstrumentedCall
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
