// Admission of one call: look up, decide, wait for an approver, charge limits and record the intent, in
// this order and nowhere else. After every wait the call is looked up and decided again by the same
// lines. A call goes on only with a durable intent; a fault on the way is a refusal.

import { ADMIT_TRIES_MAX } from '../shared/limits.ts'
import {
  type ApprovalWaitResult,
  type ApprovalWaitState,
  awaitApproval,
  type PendingApproval,
} from './await-approval.ts'
import type { AdmissionResult, CallPipeline, CallRequest, TrackedCall } from './call-request.ts'
import { chargeAndRecord, type PassingCall } from './charge-and-record.ts'
import { decideCall, withoutLimits } from './decide-call.ts'
import { toEntry } from './record-calls.ts'

export interface AdmitOptions {
  readonly pipeline: CallPipeline
  /** The call with what is known of it now, and after every wait. */
  readonly request: CallRequest
  readonly lookUp: () => CallRequest | Promise<CallRequest>
}

export async function admitCall(options: AdmitOptions): Promise<AdmissionResult> {
  const { lookUp, pipeline } = options
  let { request } = options
  const tracked = begin(pipeline, request)
  let wait: ApprovalWaitState = {}
  let { usage } = pipeline.admission
  for (let tries = 1; ; request = await lookUp()) {
    const { bound, canary, decision, now } = decideCall({ pipeline, request, usage })
    if (canary !== undefined) pipeline.onCanary(request.facts.session.id, canary)
    const decided: PassingCall = { request, decision, bound, now }
    tracked.watched.step('decide')
    const { action } = decision
    if (action !== 'require_approval') wait.withdraw?.()
    if (action === 'deny' || action === 'hide') return refuse(pipeline, decided, tracked)
    const approval: ApprovalWaitResult =
      action === 'allow'
        ? { status: 'approved', passing: decided }
        : await awaitApproval({ pipeline, passing: decided, usage, wait, tracked })
    if (action !== 'allow') tracked.watched.waited()
    if (approval.status === 'refused')
      return refuse(
        pipeline,
        { ...decided, decision: approval.decision },
        tracked,
        approval.pending,
      )
    if (approval.status === 'again') {
      wait = approval.wait
      usage = pipeline.admission.usage
      continue
    }
    const isLastTry = tries === ADMIT_TRIES_MAX
    const charged =
      approval.status === 'stale'
        ? approval
        : await chargeAndRecord({ pipeline, passing: approval.passing, tracked, isLastTry })
    if (charged.status === 'admitted')
      return { request: charged.request, admission: charged.admission }
    if (charged.status === 'unavailable')
      return { request, decision: charged.decision, callId: tracked.callId }
    // A limit or the approval changed since the decision: look up and decide again.
    if (isLastTry) return refuse(pipeline, { ...decided, decision: charged.refusal }, tracked)
    tries++
    usage = charged.usage ?? pipeline.admission.usage
  }
}

function begin(pipeline: CallPipeline, request: CallRequest): TrackedCall {
  const callId = pipeline.newId()
  return { callId, watched: pipeline.watch.begin(request, request.trace) }
}

/** Recorded, and not waited for. */
function refuse(
  pipeline: CallPipeline,
  refused: PassingCall,
  { callId, watched }: TrackedCall,
  pending?: PendingApproval,
): AdmissionResult {
  const shadow = refused.decision.shadow.map(withoutLimits)
  const decision = { ...refused.decision, shadow }
  pipeline.record.refusal(toEntry({ pipeline, passing: { ...refused, decision }, callId }))
  watched.decided(decision, callId)
  return { request: refused.request, decision, callId, pending }
}
