// Admission of one call: look up, decide, wait for an approver, charge limits and record the intent, in
// this order and nowhere else. After every wait the call is looked up and decided again by the same
// lines. A call goes on only with a durable intent; a fault on the way is a refusal.

import { ADMIT_TRIES_MAX } from '../shared/limits.ts'
import { type ApprovalWaitResult, type ApprovalWaitState, awaitApproval } from './await-approval.ts'
import type {
  AdmissionResult,
  CallPipeline,
  CallProgress,
  CallRequest,
  PendingApproval,
} from './call-request.ts'
import { chargeAndRecord } from './charge-and-record.ts'
import { type DecidedCall, decideCall, mayPass, withoutLimits } from './decide-call.ts'
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
  const progress = begin(pipeline, request)
  let wait: ApprovalWaitState = {}
  let { usage } = pipeline.admission
  for (let tries = 1; ; request = await lookUp()) {
    const { bound, canary, decision, now } = decideCall({ pipeline, request, usage })
    if (canary !== undefined) pipeline.onCanary(request.facts.session.id, canary)
    const decided: DecidedCall = { request, decision, bound, now }
    progress.instrumented.step('decide')
    const { action } = decision
    if (action !== 'require_approval') wait.withdraw?.()
    const isLastTry = tries === ADMIT_TRIES_MAX
    if (action === 'deny' || action === 'hide') {
      if (isLastTry || !(await isOutdated(pipeline, decided)))
        return refuse(pipeline, decided, progress)
      tries++
      continue
    }
    const approval: ApprovalWaitResult = mayPass(decided)
      ? { status: 'approved', passing: decided }
      : await awaitApproval({ pipeline, decided, usage, wait, progress })
    if (action !== 'allow') progress.instrumented.leaveOutWait()
    if (approval.status === 'refused')
      return refuse(
        pipeline,
        { ...decided, decision: approval.decision },
        progress,
        approval.pending,
      )
    if (approval.status === 'again') {
      wait = approval.wait
      usage = pipeline.admission.usage
      continue
    }
    const charged =
      approval.status === 'stale'
        ? approval
        : await chargeAndRecord({
            pipeline,
            passing: approval.passing,
            progress,
            isLastTry,
          })
    if (charged.status === 'admitted')
      return { request: charged.request, admission: charged.admission }
    if (charged.status === 'unavailable')
      return { request, decision: charged.decision, callId: progress.callId }
    // A limit or the approval changed since the decision: look up and decide again.
    if (isLastTry) return refuse(pipeline, { ...decided, decision: charged.refusal }, progress)
    tries++
    usage = charged.usage ?? pipeline.admission.usage
  }
}

function begin(pipeline: CallPipeline, request: CallRequest): CallProgress {
  const callId = pipeline.newId()
  return { callId, instrumented: pipeline.watch.begin(request, request.trace) }
}

/** Whether another gate has changed what the session remembers: a call is not denied for what stood in an answer that
 * was sent there. One that passes is checked as it is admitted. */
async function isOutdated(
  { admission }: CallPipeline,
  { now, request: { checks, facts } }: DecidedCall,
): Promise<boolean> {
  if (checks === undefined || facts.provenance === undefined) return false
  const reply = await admission.admit({ mode: 'probe', charges: [], now, checks })
  return reply.status === 'changed'
}

/** Recorded, and not waited for. */
function refuse(
  pipeline: CallPipeline,
  refused: DecidedCall,
  { callId, instrumented }: CallProgress,
  pending?: PendingApproval,
): AdmissionResult {
  const shadow = refused.decision.shadow.map(withoutLimits)
  const decision = { ...refused.decision, shadow }
  pipeline.record.refusal(toEntry({ pipeline, decided: { ...refused, decision }, callId }))
  instrumented.decided(decision, callId)
  return { request: refused.request, decision, callId, pending }
}
