// The spine of the gate: what happens to one call before anything leaves. Decision, limits, record,
// in this order and nowhere else. A call goes on only with its intent on record; a fault on the way
// is a refusal.

import type { Call, Facts } from '@sluice/policy/core/call'
import type { Instant } from '@sluice/policy/core/clock'
import type {
  ConsumeResult,
  Counters,
  LimitCharge,
  LimitUsage,
  Receipt,
} from '@sluice/policy/core/counters'
import { formatDecimal } from '@sluice/policy/core/decimal'
import type { Decision, ShadowDecision } from '@sluice/policy/core/decision'
import type { DecisionInputs as JudgedValues } from '@sluice/policy/core/decision-inputs'
import { collectInputs } from '@sluice/policy/decide/collect-inputs'
import { decide } from '@sluice/policy/decide/decide'
import type { CompiledPolicy } from '@sluice/policy/model/policy'
import { displayName } from '../../core/display-name.ts'
import type { CallInstrumentation, InstrumentedCall } from '../metrics/instrument-calls.ts'
import { enterStep } from '../shared/current-step.ts'
import type { TraceContext } from '../shared/transport.ts'
import { type Freeze, type FreezeTarget, frozenReason } from '../state/freezes.ts'
import type { BoundPolicy } from '../state/policy-set.ts'
import {
  type ApprovalClaim,
  type ApprovalWaitOptions,
  type ApprovalWaitState,
  awaitApproval,
  type HoldParts,
  type PendingApproval,
} from './await-approval.ts'

/** What is asked, as it was read. */
export interface CallRequest {
  readonly call: Call
  readonly facts: Facts
  /** The text of the arguments; undefined where there are none. */
  readonly argsText: string | undefined
  /** Of the caller's trace, where it said one. */
  readonly trace?: TraceContext | undefined
  /** Why it may not go on whatever the policy says; a hidden name stays hidden all the same. */
  readonly objection?: string | undefined
  /** No server has it: answered as if it were hidden. */
  readonly missing?: boolean
  /** Why its definition waits for a person: denied whatever the policy allows. */
  readonly waits?: string | undefined
  /** It goes on with a call that was counted: judged anew, and not counted again. */
  readonly continues?: boolean
  /** What had asked for a person when that call was approved: the same need not ask again. */
  readonly approvedFor?: string | undefined
  /** How it may wait for a person, if it has to; undefined where it cannot. */
  readonly holding?: () => ApprovalWaitOptions
}

/** A call with what was decided on it, for the record. */
export interface DecidedCall extends Pick<CallRequest, 'call' | 'facts' | 'argsText'> {
  readonly callId: string
  readonly decision: Decision
  /** Name and digest of the policy that judged. */
  readonly policy: string
  /** What the verdict was reached from. */
  readonly values: JudgedValues
  readonly now: Instant
}

/** The record, as far as the spine needs it. */
export interface CallRecorder {
  /** `written` when the intent is durable, with its number; `failed` where it cannot be written. */
  intent(judged: DecidedCall, written: (seq: number) => void, failed: (error: Error) => void): void
  refusal(judged: DecidedCall): void
}

export interface CallPipeline {
  /** The policy that binds the caller, as it is now. */
  readonly policy: () => BoundPolicy
  readonly frozen: (who: FreezeTarget) => Freeze | undefined
  readonly counters: Counters & LimitUsage
  readonly record: CallRecorder
  readonly now: () => Instant
  readonly newId: () => string
  /** Texts among what was judged are kept too. */
  readonly keepsTexts: boolean
  readonly watch: CallInstrumentation
  readonly approvals: HoldParts
}

/** To a call that was counted before, every limit has room. */
const NOTHING_USED: LimitUsage = {
  look: ({ max }) => ({ passes: true, remaining: max, retryAfterMs: 0 }),
}

/** A call that may go on. */
export interface Admission {
  /** Number of its intent on record. */
  readonly intent: number
  /** Only where no byte of the call has left the gate. */
  readonly giveBack: () => Promise<void>
  readonly watched: InstrumentedCall
  /** What a person's approval let it pass by; undefined where none was needed. */
  readonly approval?: ApprovalClaim | undefined
}

export type AdmissionResult =
  | { readonly admission: Admission }
  | {
      readonly admission?: undefined
      readonly decision: Decision
      readonly callId: string
      /** It waits for a person still, and its caller may be kept. */
      readonly pending?: PendingApproval | undefined
    }

/** One call on its way. */
interface CallContext {
  readonly callId: string
  readonly watched: InstrumentedCall
  readonly bound: BoundPolicy
  readonly now: Instant
}

/** Whoever asked hears once: at once where it is refused, after the commit where it goes on. */
export interface AdmissionCallbacks {
  readonly verdict: (verdict: AdmissionResult) => void
  readonly fault: (error: Error) => void
}

export function admit(spine: CallPipeline, asked: CallRequest): Promise<AdmissionResult> {
  return new Promise((resolve, reject) =>
    admitCall(spine, asked, { verdict: resolve, fault: reject }),
  )
}

/** As `admit`, but there is a promise only where there is something to wait for: a plain call passes
 * without. `waited`: it was held before, and everything is looked at anew. */
export function admitCall(
  spine: CallPipeline,
  asked: CallRequest,
  hearing: AdmissionCallbacks,
  waited?: ApprovalWaitState,
): void {
  enterStep('decide')
  const { counters } = spine
  const now = spine.now()
  const callId = waited?.callId ?? spine.newId()
  const watched = waited?.watched ?? spine.watch.begin(asked, asked.trace)
  const bound = spine.policy()
  const going: CallContext = { callId, watched, bound, now }
  // Before anything is looked at: a freeze holds whatever the policy says, and tells nobody which
  // names are hidden.
  const frozen = spine.frozen(concernedBy(asked))
  if (frozen !== undefined)
    return hearing.verdict(refuse(spine, asked, frozenDecision(frozen), going))
  const usage = asked.continues === true ? NOTHING_USED : counters
  const weighed = decide(bound.policy, asked.call, asked.facts, usage, now)
  const decision = asked.continues === true ? uncounted(weighed) : weighed
  watched.step('decide')
  // Nothing asks for a person any more: the client need not either.
  if (decision.action !== 'require_approval') waited?.withdraw?.()
  const objection = builtInRefusal(asked, decision)
  if (objection !== undefined) return hearing.verdict(refuse(spine, asked, objection, going))
  if (decision.action === 'allow') return chargeAndRecord(spine, asked, decision, going, hearing)
  if (decision.action !== 'require_approval')
    return hearing.verdict(refuse(spine, asked, decision, going))
  hold(spine, asked, decision, going, hearing, waited).catch(hearing.fault)
}

async function hold(
  spine: CallPipeline,
  asked: CallRequest,
  decision: Decision,
  going: CallContext,
  hearing: AdmissionCallbacks,
  waited: ApprovalWaitState | undefined,
): Promise<void> {
  const { callId, watched } = going
  const held = await awaitApproval(spine, asked, decision, waited ?? { callId, watched })
  switch (held.is) {
    case 'refused':
      return hearing.verdict({
        ...refuse(spine, asked, held.decision, going),
        pending: held.pending,
      })
    case 'again':
      return admitCall(spine, held.asked, hearing, held.waited)
    case 'approved':
      // The person may have changed the arguments, or another call may have been faster.
      if (spine.frozen(concernedBy(asked)) !== undefined || !held.approval.take(callId))
        return admitCall(spine, asked, hearing, held.waited)
      return chargeAndRecord(spine, held.asked, held.decision, going, hearing, held.approval)
  }
}

/** What holds whatever a document says; a hidden name stays hidden all the same. */
function builtInRefusal(asked: CallRequest, decision: Decision): Decision | undefined {
  const { waits, objection, missing } = asked
  if (decision.action === 'hide') return undefined
  if (missing === true) {
    const { server, method, name } = asked.call
    const reason = `no server has \`${server}/${displayName(method, name)}\``
    return { ...toDenial(decision, 'DENIED', reason), action: 'hide', rule: BUILT_IN }
  }
  if (waits !== undefined)
    return { ...toDenial(decision, 'DEFINITION_CHANGED', waits), rule: BUILT_IN }
  if (objection !== undefined) return { ...toDenial(decision, 'DENIED', objection), rule: BUILT_IN }
  return undefined
}

function judgedOf(
  spine: CallPipeline,
  asked: CallRequest,
  decision: Decision,
  going: CallContext,
): DecidedCall {
  const { callId, bound, now } = going
  const values = decision.code === 'FROZEN' ? {} : valuesOf(bound.policy, asked, spine.keepsTexts)
  const { call, facts, argsText } = asked
  return { call, facts, argsText, callId, decision, policy: bound.id, values, now }
}

function refuse(spine: CallPipeline, asked: CallRequest, refused: Decision, going: CallContext) {
  const { callId, watched } = going
  const told = { ...refused, shadow: refused.shadow.map(withoutLimits) }
  spine.record.refusal(judgedOf(spine, asked, told, going))
  watched.decided(told, callId)
  return { decision: told, callId }
}

/** Limits and intent, all or none. An approval was taken by now: it is given back with them. */
function chargeAndRecord(
  spine: CallPipeline,
  asked: CallRequest,
  decision: Decision,
  going: CallContext,
  hearing: AdmissionCallbacks,
  approval?: ApprovalClaim,
): void {
  const { counters } = spine
  const consumed = counters.consume(decision.limits, going.now)
  if (!(consumed instanceof Promise) && decision.shadow.length === 0)
    return recordIntent(spine, asked, decision, going, hearing, approval, {
      consumed,
      receipts: [],
    })
  consumeAll(counters, consumed, decision, going.now)
    .then(({ shadow, ...taken }) =>
      recordIntent(spine, asked, { ...decision, shadow }, going, hearing, approval, taken),
    )
    .catch(hearing.fault)
}

/** What a call has taken of its limits, and of those in shadow. */
interface ChargedLimits {
  readonly consumed: ConsumeResult
  readonly receipts: readonly Receipt[]
}

function recordIntent(
  spine: CallPipeline,
  asked: CallRequest,
  decision: Decision,
  going: CallContext,
  hearing: AdmissionCallbacks,
  approval: ApprovalClaim | undefined,
  { consumed, receipts }: ChargedLimits,
): void {
  const { counters, record } = spine
  const { callId, watched } = going
  if (!consumed.ok) {
    approval?.giveBack()
    return hearing.verdict(refuse(spine, asked, denyLostRace(decision, consumed), going))
  }
  watched.step('limits')
  const giveBack = async (): Promise<void> => {
    for (const receipt of [consumed.receipt, ...receipts]) await counters.giveBack(receipt)
  }
  const written = (intent: number): void => {
    watched.step('intent')
    watched.decided(decision, callId)
    hearing.verdict({ admission: { intent, giveBack, watched, approval } })
  }
  // No record, no call; and what was not sent has not been used.
  const giveUp = async (error: Error): Promise<void> => {
    await giveBack()
    approval?.giveBack()
    const reason = `the call cannot be recorded, so it is not made: ${error.message}`
    const fault = toDenial(decision, 'POLICY_FAULT', reason)
    watched.decided(fault, callId)
    hearing.verdict({ decision: fault, callId })
  }
  const failed = (error: Error): void => void giveUp(error).catch(hearing.fault)
  try {
    record.intent(judgedOf(spine, asked, decision, going), written, failed)
    // In the same commit as the intent.
    approval?.executing(asked.argsText)
  } catch (error) {
    failed(error as Error)
  }
}

/** The record of a call must not fail by what it would keep beside it. */
function valuesOf(
  policy: CompiledPolicy,
  { call, facts }: CallRequest,
  texts: boolean,
): JudgedValues {
  try {
    return collectInputs(policy, call, facts, texts)
  } catch {
    return {}
  }
}

function concernedBy({ call, facts }: CallRequest): FreezeTarget {
  return {
    server: call.server,
    principal: facts.principal.id,
    agent: facts.agent?.id ?? null,
  }
}

function frozenDecision(frozen: Freeze): Decision {
  return {
    ...{ action: 'deny', code: 'FROZEN', rule: '', reason: frozenReason(frozen) },
    ...{ guardrails: [], limits: [], retryAfterMs: 0, approvals: [], shadow: [] },
  }
}

/** Rules in shadow count on their own: one whose limit is full takes nothing and stops nothing. */
async function consumeAll(
  counters: Counters,
  consuming: ConsumeResult | Promise<ConsumeResult>,
  decision: Decision,
  now: Instant,
): Promise<ChargedLimits & { readonly shadow: readonly ShadowDecision[] }> {
  const shadow: ShadowDecision[] = []
  const receipts: Receipt[] = []
  const consumed = await consuming
  for (const verdict of consumed.ok ? decision.shadow : []) {
    const taken = await counters.consume(verdict.limits, now)
    if (taken.ok) receipts.push(taken.receipt)
    shadow.push(taken.ok ? verdict : withoutLimits(verdict))
  }
  return { consumed, receipts, shadow: consumed.ok ? shadow : decision.shadow }
}

function uncounted(decision: Decision): Decision {
  return { ...decision, limits: [], shadow: decision.shadow.map(withoutLimits) }
}

/** The record names limits only where they were consumed. */
function withoutLimits(verdict: ShadowDecision): ShadowDecision {
  return { ...verdict, limits: [] }
}

/** The rule of what holds whatever a document says. */
export const BUILT_IN = 'built-in'

/** Another call was faster between looking and consuming. */
function denyLostRace(
  decision: Decision,
  { refused, room }: ConsumeResult & { ok: false },
): Decision {
  const { kind } = decision.limits[refused] as LimitCharge
  const code = kind === 'rate' ? 'RATE_LIMITED' : 'SPEND_LIMITED'
  const reason = 'the limit was reached by another call at the same moment'
  const { retryAfterMs } = room
  return {
    ...toDenial(decision, code, reason),
    retryAfterMs,
    remaining: formatDecimal(room.remaining),
  }
}

export function toDenial(decision: Decision, code: Decision['code'], reason: string): Decision {
  return { ...decision, action: 'deny', code, reason, limits: [], approvals: [] }
}
