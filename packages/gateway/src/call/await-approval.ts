// A call that a rule wants a person to approve, from asking to being approved: the request for approval
// is made or found, and waited for. The caller decides the call again after every wait. If the approver
// changed the arguments, the changed call is decided here. Called by admit-call.ts alone.

import {
  type ApprovalSubmission,
  digestRequirements,
  toRequestId,
} from '@sluice/access/approvals/approval-submission'
import type { ApprovalRequestResult } from '@sluice/access/approvals/engine'
import { ARGS_LENGTH_MAX, HELD_MARKS_MAX } from '@sluice/access/approvals/limits'
import { toApprovalUse } from '@sluice/access/approvals/recover'
import type { LimitUsage } from '@sluice/policy/calls/counters'
import type { Decision } from '@sluice/policy/calls/decision'
import { decide } from '@sluice/policy/decide/decide'
import { TOOL_CALL } from '@sluice/policy/language/methods'
import { pickDefined } from '@sluice/policy/structures/pick-defined'
import { EFFECT_META } from '@sluice/protocol/agent-calls'
import { isDense } from '@sluice/protocol/json/is-dense'
import { getMeta } from '@sluice/protocol/protocol-generation'
import { writeMembers } from '@sluice/protocol/write-message'
import { enterStep } from '../shared/current-step.ts'
import { describePendingToCaller } from '../tools/describe-pending.ts'
import type {
  ApprovalClaim,
  ApprovalWaitOptions,
  CallPipeline,
  CallProgress,
  CallRequest,
  PendingApproval,
} from './call-request.ts'
import {
  listCharges,
  type StaleDecision,
  toChangingDenial,
  toStaleDecision,
} from './charge-and-record.ts'
import {
  type AllowingDecision,
  type DecidedCall,
  type PassingCall,
  toDenial,
  toFreezeTarget,
  toUnavailable,
} from './decide-call.ts'

/** The part of a wait that is kept while the call is decided again. */
export interface ApprovalWaitState {
  readonly untilMs?: number
  /** Takes back what was put to the client. */
  readonly withdraw?: (() => void) | undefined
}

export interface ApprovalOptions {
  readonly pipeline: CallPipeline
  /** The call that a rule wants a person to approve. */
  readonly decided: DecidedCall
  readonly usage: LimitUsage
  readonly wait: ApprovalWaitState
  readonly progress: CallProgress
}

export type ApprovalWaitResult =
  | { readonly status: 'refused'; readonly decision: Decision; readonly pending?: PendingApproval }
  /** Something changed: the call is looked up and decided again. */
  | { readonly status: 'again'; readonly wait: ApprovalWaitState }
  /** A limit is full: as after a charge that does not fit. */
  | ({ readonly status: 'stale' } & StaleDecision)
  | { readonly status: 'approved'; readonly passing: PassingCall }

/** Why a call cannot be submitted for approval: an approver could not read it, and masking and ordering
 * that many values would block every other call. */
function tooLong(params: ApprovalWaitOptions['params']): string | undefined {
  let length = 0
  for (const text of params?.values() ?? []) {
    length += text.length
    if (isDense(text, HELD_MARKS_MAX))
      return `it has more than ${HELD_MARKS_MAX} values, which nobody can be shown: send fewer`
  }
  if (length <= ARGS_LENGTH_MAX) return undefined
  return `it has ${length} characters, at most ${ARGS_LENGTH_MAX} can be shown to a person`
}

export async function awaitApproval(options: ApprovalOptions): Promise<ApprovalWaitResult> {
  enterStep('hold')
  const { pipeline, decided, wait, progress } = options
  const { decision, now, request } = decided
  const { engine, urlOf } = pipeline.approvals
  const { approvedFor } = request
  const requirements = digestRequirements(decision.approvals)
  // The rounds of an approved call are that call.
  if (approvedFor !== undefined && approvedFor === requirements) {
    const approval = { settled() {}, asked: requirements, args: undefined }
    return approve(options, {
      ...decided,
      decision: approved(decision, { reason: 'approved before' }),
      approval,
    })
  }
  const waitOptions = request.waitOptions?.()
  if (waitOptions === undefined)
    return toRefusedResult(
      toDenial(decision, 'APPROVAL_REQUIRED', `${decision.reason}; nobody can be asked here`),
    )
  const long = tooLong(waitOptions.params)
  if (long !== undefined) return toRefusedResult(toDenial(decision, 'APPROVAL_LIMITED', long))
  // A full limit is reported before a person is asked.
  const charges = listCharges(decision)
  const { checks } = request
  const room = await pipeline.admission.admit({ mode: 'probe', charges, now, checks })
  if (room.status === 'changed') return { status: 'stale', refusal: toChangingDenial(decision) }
  if (room.status === 'full')
    return { status: 'stale', ...toStaleDecision(decision, charges, room) }
  // It would not be carried out, and its request would have the times of a gate whose clock may be wrong.
  if (room.status === 'unavailable') {
    pipeline.record.unrecorded(progress.callId, room.why)
    return toRefusedResult(toUnavailable(decision))
  }
  const submission = toSubmission(pipeline, decided, waitOptions, progress.callId)
  const result = await engine.ask(submission)
  if (result.is !== 'pending') wait.withdraw?.()
  const toReference = (id: string) => ({ id, ...pickDefined({ url: urlOf(id) }) })
  switch (result.is) {
    case 'approved':
    case 'standing':
      return pass(options, result, waitOptions)
    case 'refused': {
      const code = result.barred ? 'APPROVAL_DENIED' : 'APPROVAL_LIMITED'
      const lift = result.barred ? '; a person lifts that with `sluice approvals lift`' : ''
      return toRefusedResult(toDenial(decision, code, `${result.why}${lift}`))
    }
    case 'denied':
    case 'expired': {
      const code = result.is === 'denied' ? 'APPROVAL_DENIED' : 'APPROVAL_EXPIRED'
      const why = `the request for approval ${result.is === 'denied' ? 'was denied' : 'expired'}: ${result.why}`
      return toRefusedResult({
        ...toDenial(decision, code, why),
        approval: toReference(result.id),
        ...(result.by !== undefined && {
          approvers: { names: [result.by], at: why.length - result.by.length },
        }),
      })
    }
    case 'used': {
      const why = `an identical call has used the approval: ${result.usedBy}; its outcome is there`
      const approval = { ...toReference(result.id), usedBy: result.usedBy }
      return toRefusedResult({ ...toDenial(decision, 'APPROVAL_USED', why), approval })
    }
    case 'pending':
      return waitForChange(options, { ...result, ...toReference(result.id) }, waitOptions)
  }
}

async function waitForChange(
  { pipeline, decided, wait }: ApprovalOptions,
  { id, url, client, expired }: { id: string; url?: string; client: boolean; expired?: string },
  waitOptions: ApprovalWaitOptions,
): Promise<ApprovalWaitResult> {
  const { decision } = decided
  const { command, engine } = pipeline.approvals
  const waitMs = Math.min(...decision.approvals.map((ask) => ask.waitMs))
  const { reason } = decision
  const pending: PendingApproval = { id, ...pickDefined({ url }), reason, client, waitMs }
  const nowMs = performance.now()
  const untilMs = wait.untilMs ?? nowMs + Math.min(waitMs, waitOptions.waitMsMax(pending))
  if (nowMs < untilMs && !engine.isClosed) {
    const withdraw = wait.withdraw ?? waitOptions.askClient?.(pending)
    await engine.change(id, untilMs - nowMs)
    if (waitOptions.isWanted()) return { status: 'again', wait: { untilMs, withdraw } }
    withdraw?.()
  }
  wait.withdraw?.()
  const denial: Decision = {
    ...decision,
    code: 'APPROVAL_PENDING',
    limits: [],
    approvals: [],
    reason: pendingText(pending, command, {
      isProgram: decided.request.program !== undefined,
      expired,
    }),
    approval: { id, ...pickDefined({ url }) },
  }
  return { status: 'refused', decision: denial, pending }
}

/** Approved, by a person for this call or by a standing approval. Changed arguments are decided again. */
function pass(
  options: ApprovalOptions,
  result: ApprovalRequestResult & { is: 'approved' | 'standing' },
  { withArgs }: ApprovalWaitOptions,
): ApprovalWaitResult {
  const { decided, pipeline, progress, usage } = options
  const { decision, request } = decided
  const { engine } = pipeline.approvals
  const { id, by } = result
  const args = result.is === 'approved' ? result.args : undefined
  const approval: ApprovalClaim = {
    use: { id, isStanding: result.is === 'standing' },
    settled: ({ status, givenBack }) => {
      const became = toApprovalUse({ status, givenBack: givenBack === true })
      engine.settled(id, progress.callId, became)
    },
    asked: digestRequirements(decision.approvals),
    args,
  }
  if (args === undefined)
    return approve(options, {
      ...decided,
      decision: approved(decision, nameApprovers(by, ` (${id})`)),
      approval,
    })
  const edited = withArgs?.(args) ?? { ...request, objection: 'its arguments cannot be changed' }
  const { policy } = pipeline.policy()
  const again = decide(policy, edited.call, edited.facts, usage, pipeline.now())
  // A full limit empties again: the approval stays.
  if (again.code === 'RATE_LIMITED' || again.code === 'SPEND_LIMITED') return toRefusedResult(again)
  const why = explainEditRefused(edited, again, decision)
  if (why !== undefined) {
    engine.refuseEdited(id, why)
    const reason = `an approver changed the arguments, and with them it may not pass: ${why}`
    return toRefusedResult({ ...toDenial(again, 'APPROVAL_DENIED', reason), approval: { id } })
  }
  const approvedDecision = approved(again, nameApprovers(by, ` (${id}), who changed the arguments`))
  return approve(options, { ...decided, request: edited, decision: approvedDecision, approval })
}

/** A freeze may have come while an approver was asked. */
function approve({ pipeline, wait }: ApprovalOptions, passing: PassingCall): ApprovalWaitResult {
  const isFrozen = pipeline.frozen(toFreezeTarget(passing.request)) !== undefined
  return isFrozen ? { status: 'again', wait } : { status: 'approved', passing }
}

/** Why the changed call may not pass by the approval of the one that was asked for. */
function explainEditRefused(
  { objection, pendingDefinition }: CallRequest,
  edited: Decision,
  was: Decision,
): string | undefined {
  if (pendingDefinition !== undefined) return describePendingToCaller(pendingDefinition)
  if (objection !== undefined) return objection
  if (edited.action === 'allow') return undefined
  if (edited.action !== 'require_approval') return edited.reason || 'the policy denies it'
  const satisfied = new Set(was.approvals.map(({ says }) => says))
  const more = edited.approvals.find(({ says }) => !satisfied.has(says))
  return more === undefined ? undefined : 'another rule asks as well, and was not asked for'
}

const HAS_ARGUMENTS: ReadonlySet<string> = new Set([TOOL_CALL, 'prompts/get'])

function toSubmission(
  { approvals }: CallPipeline,
  { decision: { approvals: asks }, request }: DecidedCall,
  { params }: ApprovalWaitOptions,
  callId: string,
): ApprovalSubmission {
  const { call, facts, argsText, program } = request
  const { principal, agent, session, tool } = facts
  const isAgents = agent !== null || program !== undefined
  const effect = isAgents ? getMeta(request.params)[EFFECT_META] : undefined
  const rest = new Map(params)
  rest.delete('_meta')
  // What has no arguments is shown as a whole: a person decides over what is read or asked.
  const hasArguments = HAS_ARGUMENTS.has(call.method)
  if (hasArguments) rest.delete('arguments')
  return {
    callId,
    principal: { id: principal.id, kind: principal.kind },
    agent: agent?.id ?? null,
    session: session.id,
    server: call.server,
    method: call.method,
    name: call.name,
    category: tool?.category ?? null,
    risk: tool?.risk ?? null,
    ...(tool?.unknown === true ? { unknown: true } : {}),
    pin: tool === undefined ? '' : approvals.pinOf(tool),
    rest: hasArguments ? writeMembers(rest) : '{}',
    args: hasArguments ? (argsText ?? '') : writeMembers(rest),
    asks,
    program: program?.code,
    id: typeof effect === 'string' ? toRequestId(effect) : undefined,
  }
}

/** The first of the words that an agent reads, in one line. */
function pendingText(
  { id, url, reason }: PendingApproval,
  command: string,
  { isProgram, expired }: { readonly isProgram: boolean; readonly expired: string | undefined },
): string {
  const where = url ?? `\`${command}\``
  const before =
    expired === undefined
      ? ''
      : ` (a new one: an earlier request for this call expired: ${expired})`
  const waiting = `waiting for approval: ${reason}; request ${id}${before}, to be approved at ${where}`
  if (isProgram) return waiting
  return `${waiting}; after that make the same call again: an approval is good for one call`
}

function nameApprovers(names: readonly string[], rest: string): ApprovedReason {
  const before = 'approved by '
  return {
    reason: `${before}${names.join(', ')}${rest}`,
    approvers: { names, at: before.length },
  }
}

type ApprovedReason = Pick<Decision, 'reason' | 'approvers'>

function approved(decision: Decision, why: ApprovedReason): AllowingDecision {
  return {
    ...decision,
    action: 'allow',
    code: 'APPROVED',
    ...why,
    approvals: [],
  }
}

function toRefusedResult(decision: Decision): ApprovalWaitResult {
  return { status: 'refused', decision }
}
