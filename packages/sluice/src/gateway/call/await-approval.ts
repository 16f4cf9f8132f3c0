// A call that a rule wants a person to approve, from being asked for to being taken: the request is
// made or found, waited for a while, and everything is judged anew before it goes on. Where the
// approver changed the arguments, the changed call is judged. Called by admit.ts alone.

import type { ApprovalReference, Channel, Decision } from '@sluice/policy/core/decision'
import type { KnownTool } from '@sluice/policy/core/tools'
import { decide } from '@sluice/policy/decide/decide'
import { TOOL_CALL } from '@sluice/policy/language/methods'
import { type ApprovalSubmission, digestRequirements } from '../../approvals/approval-submission.ts'
import type { ApprovalRequestResult } from '../../approvals/engine.ts'
import { ARGS_LENGTH_MAX, HELD_MARKS_MAX } from '../../approvals/limits.ts'
import { toApprovalUse } from '../../approvals/recover.ts'
import type { ApprovalVerdict } from '../../core/approval.ts'
import type { Person } from '../../core/person.ts'
import { isDense } from '../../protocol/json/is-dense.ts'
import { writeMembers } from '../../protocol/write-message.ts'
import type { InstrumentedCall } from '../metrics/instrument-calls.ts'
import { enterStep } from '../shared/current-step.ts'
import type { CallOutcome } from '../shared/outcome.ts'
import { type CallPipeline, type CallRequest, toDenial } from './admit.ts'

/** The approvals, as far as the spine needs them; an ApprovalEngine fits. */
export interface CallApprovals {
  ask(call: ApprovalSubmission): Promise<ApprovalRequestResult>
  use(id: string, callId: string): boolean
  takeStanding(id: string, callId: string): boolean
  executing(id: string, callId: string, argsText: string | undefined): void
  settled(id: string, callId: string, became: ReturnType<typeof toApprovalUse>): void
  decide(id: string, verdict: ApprovalVerdict, who: Person, channel: Channel): Promise<unknown>
  change(id: string, waitMs: number): Promise<void>
  refuseEdited(id: string, why: string): void
  readonly isClosed: boolean
}

export interface HoldParts {
  readonly engine: CallApprovals
  /** Digest of a definition. */
  readonly pinOf: (tool: KnownTool) => string
  /** Where a person decides over a request; undefined where no page is served. */
  readonly urlOf: (id: string) => string | undefined
  /** The command that shows what waits, for where there is no page. */
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
  /** The call as it is now: definitions and facts may have changed. */
  readonly again: () => Promise<CallRequest>
  /** The call with arguments that an approver wrote. */
  readonly withArgs: ((args: string) => CallRequest) | undefined
  /** Puts it to the client itself: a page to open, or where the rule allows it a form. Not waited for;
   * returns what takes it back. */
  readonly askClient?: ((pending: PendingApproval) => () => void) | undefined
}

export interface ApprovalWaitState {
  readonly callId: string
  readonly watched: InstrumentedCall
  readonly untilMs?: number
  /** Takes back what was put to the client. */
  readonly withdraw?: (() => void) | undefined
}

export interface PendingApproval extends ApprovalReference {
  readonly reason: string
  /** The rule lets the client decide. */
  readonly client: boolean
  /** How long the rules let a call wait. */
  readonly waitMs: number
}

/** An approval that a call passes by. */
export interface ApprovalClaim {
  /** False where an identical call was faster. */
  take(callId: string): boolean
  giveBack(): void
  executing(argsText: string | undefined): void
  settled(outcome: CallOutcome): void
  /** Digest of what asked. */
  readonly asked: string
  /** In place of the arguments that came. */
  readonly args: string | undefined
}

export type ApprovalWaitResult =
  | { readonly is: 'refused'; readonly decision: Decision; readonly pending?: PendingApproval }
  | { readonly is: 'again'; readonly asked: CallRequest; readonly waited: ApprovalWaitState }
  | {
      readonly is: 'approved'
      readonly asked: CallRequest
      readonly decision: Decision
      readonly approval: ApprovalClaim
      readonly waited: ApprovalWaitState
    }

/** Why a call cannot be put to a person: whoever could not read it could not decide either, and to
 * mask and to order that many values would hold everybody else. */
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

export async function awaitApproval(
  spine: CallPipeline,
  asked: CallRequest,
  decision: Decision,
  waited: ApprovalWaitState,
): Promise<ApprovalWaitResult> {
  enterStep('hold')
  const { engine, urlOf } = spine.approvals
  const { approvedFor } = asked
  const askedFor = digestRequirements(decision.approvals)
  // The rounds of an approved call are that call.
  if (approvedFor !== undefined && approvedFor === askedFor) {
    const approval = { ...NOT_COUNTED, asked: askedFor }
    return { is: 'approved', asked, decision: approved(decision, 'before'), approval, waited }
  }
  const holding = asked.holding?.()
  if (holding === undefined)
    return toRefusedResult(
      toDenial(decision, 'APPROVAL_REQUIRED', `${decision.reason}; nobody can be asked here`),
    )
  const long = tooLong(holding.params)
  if (long !== undefined) return toRefusedResult(toDenial(decision, 'APPROVAL_LIMITED', long))
  const hold = await engine.ask(heldCallOf(spine, asked, holding, decision, waited.callId))
  if (hold.is !== 'pending') waited.withdraw?.()
  const told = (id: string) => ({ id, ...defined(urlOf(id)) })
  switch (hold.is) {
    case 'approved':
    case 'standing':
      return passing(spine, asked, decision, hold, holding, waited)
    case 'refused': {
      const code = hold.barred ? 'APPROVAL_DENIED' : 'APPROVAL_LIMITED'
      const lift = hold.barred ? '; a person lifts that with `sluice approvals lift`' : ''
      return toRefusedResult(toDenial(decision, code, `${hold.why}${lift}`))
    }
    case 'denied':
    case 'expired': {
      const code = hold.is === 'denied' ? 'APPROVAL_DENIED' : 'APPROVAL_EXPIRED'
      const why = `the approval was ${hold.is}: ${hold.why}`
      return toRefusedResult({ ...toDenial(decision, code, why), approval: told(hold.id) })
    }
    case 'used': {
      const why = `an identical call has used the approval: ${hold.usedBy}; its outcome is there`
      const approval = { ...told(hold.id), usedBy: hold.usedBy }
      return toRefusedResult({ ...toDenial(decision, 'APPROVAL_USED', why), approval })
    }
    case 'pending':
      return wait(spine, decision, { ...hold, ...told(hold.id) }, holding, waited)
  }
}

async function wait(
  spine: CallPipeline,
  decision: Decision,
  { id, url, client }: { id: string; url?: string; client: boolean },
  holding: ApprovalWaitOptions,
  waited: ApprovalWaitState,
): Promise<ApprovalWaitResult> {
  const { engine } = spine.approvals
  const waitMs = Math.min(...decision.approvals.map((ask) => ask.waitMs))
  const { reason } = decision
  const pending: PendingApproval = { id, ...defined(url), reason, client, waitMs }
  const nowMs = performance.now()
  const untilMs = waited.untilMs ?? nowMs + Math.min(waitMs, holding.waitMsMax(pending))
  if (nowMs < untilMs && !engine.isClosed) {
    const withdraw = waited.withdraw ?? holding.askClient?.(pending)
    await engine.change(id, untilMs - nowMs)
    if (holding.isWanted()) {
      const again = await holding.again()
      return { is: 'again', asked: again, waited: { ...waited, untilMs, withdraw } }
    }
    withdraw?.()
  }
  waited.withdraw?.()
  const held: Decision = {
    ...decision,
    ...{ code: 'APPROVAL_PENDING', limits: [], approvals: [] },
    reason: pendingText(pending, spine.approvals.command),
    approval: { id, ...defined(url) },
  }
  return { is: 'refused', decision: held, pending }
}

/** Approved, by a person for this call or for a while. Changed arguments are judged anew. */
function passing(
  spine: CallPipeline,
  asked: CallRequest,
  decision: Decision,
  hold: ApprovalRequestResult & { is: 'approved' | 'standing' },
  { withArgs }: ApprovalWaitOptions,
  waited: ApprovalWaitState,
): ApprovalWaitResult {
  const { engine } = spine.approvals
  const { id, by } = hold
  const { callId } = waited
  const args = hold.is === 'approved' ? hold.args : undefined
  const approval: ApprovalClaim = {
    take: () => (hold.is === 'standing' ? engine.takeStanding(id, callId) : engine.use(id, callId)),
    giveBack: () => engine.settled(id, callId, 'not-sent'),
    executing: (argsText) => engine.executing(id, callId, argsText),
    settled: ({ status, givenBack }) =>
      engine.settled(id, callId, toApprovalUse({ status, givenBack: givenBack === true })),
    asked: digestRequirements(decision.approvals),
    args,
  }
  if (args === undefined)
    return {
      is: 'approved',
      asked,
      decision: approved(decision, `by ${by} (${id})`),
      approval,
      waited,
    }
  const edited = withArgs?.(args) ?? { ...asked, objection: 'its arguments cannot be changed' }
  const { policy } = spine.policy()
  const anew = decide(policy, edited.call, edited.facts, spine.counters, spine.now())
  // A full limit empties again: the approval stays.
  if (anew.code === 'RATE_LIMITED' || anew.code === 'SPEND_LIMITED') return toRefusedResult(anew)
  const why = explainEditRefused(edited, anew, decision)
  if (why !== undefined) {
    engine.refuseEdited(id, why)
    const told = `an approver changed the arguments, and with them it may not pass: ${why}`
    return toRefusedResult({ ...toDenial(anew, 'APPROVAL_DENIED', told), approval: { id } })
  }
  const said = approved(anew, `by ${by} (${id}), who changed the arguments`)
  return { is: 'approved', asked: edited, decision: said, approval, waited }
}

/** Why the changed call may not pass by the approval of the one that was asked for. */
function explainEditRefused(
  { objection, waits }: CallRequest,
  anew: Decision,
  was: Decision,
): string | undefined {
  if (waits !== undefined || objection !== undefined) return waits ?? objection
  if (anew.action === 'allow') return undefined
  if (anew.action !== 'require_approval') return anew.reason || 'the policy denies it'
  const satisfied = new Set(was.approvals.map(({ says }) => says))
  const more = anew.approvals.find(({ says }) => !satisfied.has(says))
  return more === undefined ? undefined : 'another rule asks as well, and was not asked for'
}

const HAS_ARGUMENTS: ReadonlySet<string> = new Set([TOOL_CALL, 'prompts/get'])

function heldCallOf(
  { approvals }: CallPipeline,
  { call, facts, argsText }: CallRequest,
  { params }: ApprovalWaitOptions,
  { approvals: asks }: Decision,
  callId: string,
): ApprovalSubmission {
  const { principal, agent, session, tool } = facts
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
  }
}

/** The first of the words that an agent reads, in one line. */
function pendingText({ id, url, reason }: PendingApproval, command: string): string {
  const where = url ?? `\`${command}\``
  return `held: ${reason}; request ${id}, decided at ${where}; make the same call again after that, it passes once`
}

function approved(decision: Decision, how: string): Decision {
  return {
    ...decision,
    action: 'allow',
    code: 'APPROVED',
    reason: `approved ${how}`,
    approvals: [],
  }
}

function toRefusedResult(decision: Decision): ApprovalWaitResult {
  return { is: 'refused', decision }
}

function defined(url: string | undefined): { url?: string } {
  return url === undefined ? {} : { url }
}

/** The rounds after the first use nothing up. */
const NOT_COUNTED: Omit<ApprovalClaim, 'asked'> = {
  take: () => true,
  giveBack() {},
  executing() {},
  settled() {},
  args: undefined,
}
