// The recorded calls under another policy: each is decided again, in their order, with limits
// counted as they would have been. Compared with what is on record, or with what the document in force decides.
// Reports which decisions change, and what cannot be known. Reads only; called by `policy replay` and the console.

import type { DatabaseSync } from 'node:sqlite'
import { recordsFrom } from '@sluice/ledger/chain/read'
import type { DecisionRecord, LedgerRecord } from '@sluice/ledger/records/record'
import type { Decision } from '@sluice/policy/calls/decision'
import type { KnownTool } from '@sluice/policy/calls/tools'
import { hasEqualCommon, hasEqualRules } from '@sluice/policy/cases/has-equal-rules'
import { type RecordedCall, replayCall } from '@sluice/policy/cases/replay-call'
import { MemoryCounters } from '@sluice/policy/counters/memory-counters'
import { type CompiledPolicy, longestWindowMs } from '@sluice/policy/model/policy'
import { REPLAY_EXAMPLES_MAX, REPLAY_ROWS_MAX } from './limits.ts'
import { isDecided, RecordedCalls } from './recorded-calls.ts'

/** A decision that becomes another, for all calls of one tool that it holds for. */
export interface DecisionChange {
  readonly tool: string
  readonly from: ReplayAction
  readonly to: ReplayAction
  /** Of the new policy. */
  readonly rule: string
  readonly reason: string
  count: number
  /** Numbers of the first records. */
  readonly records: number[]
}

export interface Replay {
  calls: number
  same: number
  unknown: number
  /** Calls that are decided by equal rules in the document in force and in the one that is tried. */
  untouched: number
  /** Calls that another document decided than the one in force; zero without one. */
  earlier: number
  readonly flips: DecisionChange[]
  /** Why calls could not be judged, and how many. */
  readonly reasons: Map<string, number>
}

/** The four words, and `limited` where only a limit said no. */
export type ReplayAction = Decision['action'] | 'limited'

export interface ReplayOptions {
  readonly policy: CompiledPolicy
  /** From `idOfDocument`. Calls that this very document decided come out as they did, whatever the record lacks. */
  readonly id: string | undefined
  /** The document in force. With it decisions are compared with its own, also for calls that an earlier one decided;
   * without it, and where the record does not tell what it would say, with those on record. */
  readonly current?: { readonly policy: CompiledPolicy; readonly id: string | undefined }
  /** Only calls that the document of this name judged. */
  readonly name: string
  readonly sinceMs: number
  readonly tools: readonly KnownTool[]
}

export function replay(ledger: DatabaseSync, options: ReplayOptions): Replay {
  const walk = new ReplayWalk(options)
  for (const record of recordsFrom(ledger)) walk.take(record)
  return walk.result
}

class ReplayWalk {
  readonly result: Replay = {
    calls: 0,
    same: 0,
    unknown: 0,
    untouched: 0,
    earlier: 0,
    flips: [],
    reasons: new Map(),
  }
  readonly #options: ReplayOptions
  readonly #tried: DocumentWalk
  readonly #current: DocumentWalk | undefined
  readonly #countsFromMs: number
  readonly #flips = new Map<string, DecisionChange>()

  constructor(options: ReplayOptions) {
    const { policy, id, current, tools, sinceMs } = options
    this.#options = options
    const isAlike = current && hasEqualCommon(current.policy, policy)
    this.#tried = new DocumentWalk({ policy, id }, tools, isAlike ? current.id : undefined)
    this.#current = current && new DocumentWalk(current, tools)
    const longest = [policy, current?.policy].map((each) => (each ? longestWindowMs(each) : 0))
    this.#countsFromMs = sinceMs - Math.max(...longest)
  }

  take(record: LedgerRecord): void {
    if (isDecided(record, this.#options.name) && record.atMs >= this.#countsFromMs)
      this.#judge(record)
    this.#tried.follow(record)
    this.#current?.follow(record)
  }

  #judge(record: DecisionRecord): void {
    const { result: found } = this
    const isUntouched = this.#isUntouched(record)
    const now = this.#tried.decide(record, isUntouched)
    const today = this.#current?.decide(record, isUntouched)
    // What the document in force would say may not be on record, as where values came from: then what was decided counts.
    const isLost = today === undefined || (today.unknown !== undefined && !isUntouched)
    const before = isLost ? toRecordedResult(record) : today
    if (record.atMs < this.#options.sinceMs) return
    found.calls++
    if (this.#isEarlier(record)) found.earlier++
    if (isUntouched) found.untouched++
    if (now.unknown === undefined && before.unknown === undefined) {
      if (now.action === before.action) found.same++
      else this.#flip(record, before.action, now)
    } else if (isUntouched) found.same++
    else {
      const why = now.unknown ?? before.unknown ?? ''
      found.unknown++
      found.reasons.set(why, (found.reasons.get(why) ?? 0) + 1)
    }
  }

  #isEarlier({ policy }: DecisionRecord): boolean {
    const { current } = this.#options
    return current?.id !== undefined && policy !== current.id
  }

  #isUntouched(record: DecisionRecord): boolean {
    const { current, policy } = this.#options
    if (current === undefined) return false
    const { call, facts } = this.#tried.recall(record)
    return hasEqualRules(current.policy, policy, { call: { ...call, args: {} }, facts })
  }

  #flip(
    record: DecisionRecord,
    from: ReplayAction,
    { action: to, rule, reason }: KnownResult,
  ): void {
    const tool = `${record.server}/${record.name || record.method}`
    const key = JSON.stringify([tool, from, to, rule])
    let flip = this.#flips.get(key)
    if (flip === undefined) {
      flip = { tool, from, to, rule, reason, count: 0, records: [] }
      this.#flips.set(key, flip)
      if (this.#flips.size <= REPLAY_ROWS_MAX) this.result.flips.push(flip)
    }
    flip.count++
    if (flip.records.length < REPLAY_EXAMPLES_MAX) flip.records.push(record.seq)
  }
}

interface KnownResult extends Pick<Decision, 'rule' | 'reason'> {
  readonly action: ReplayAction
  readonly unknown?: undefined
}
type WalkResult = KnownResult | { readonly unknown: string }

/** A document that decides the recorded calls one after the other, with limits that count what it lets pass. */
class DocumentWalk {
  readonly #policy: CompiledPolicy
  readonly #id: string | undefined
  /** Another document, in whose calls `protect` finds the same. */
  readonly #alike: string | undefined
  readonly #counters = new MemoryCounters()
  readonly #past: RecordedCalls

  constructor(
    { policy, id }: Pick<ReplayOptions, 'policy' | 'id'>,
    tools: readonly KnownTool[],
    alike?: string,
  ) {
    this.#policy = policy
    this.#id = id
    this.#alike = alike
    this.#past = new RecordedCalls(tools, policy)
  }

  recall(record: DecisionRecord): RecordedCall {
    return this.#past.recall(record)
  }

  follow(record: LedgerRecord): void {
    this.#past.follow(record)
  }

  /** `isUntouched`: what is unknown is decided as it was, so its limits count as they did. */
  decide(record: DecisionRecord, isUntouched: boolean): WalkResult {
    const now = { wallMs: record.atMs, monotonicMs: record.atMs }
    const passed = record.kind === 'intent'
    if (record.policy === this.#id) {
      if (passed) this.#counters.consume(record.decision.limits, now)
      return toRecordedResult(record)
    }
    const guardrails = record.policy === this.#alike ? record.decision.guardrails : undefined
    const call = { ...this.#past.recall(record), guardrails }
    const result = replayCall(this.#policy, call, this.#counters, now)
    if (result.unknown !== undefined) {
      if (passed && isUntouched) this.#counters.consume(record.decision.limits, now)
      return result
    }
    const { decision } = result
    // A call that a person approved was charged when it was sent.
    const isApproved = passed && record.decision.code === 'APPROVED'
    if (decision.action === 'allow' || (decision.action === 'require_approval' && isApproved))
      this.#counters.consume(decision.limits, now)
    return { action: wordNow(decision), rule: decision.rule, reason: decision.reason }
  }
}

function toRecordedResult(record: DecisionRecord): KnownResult {
  const { rule, reason } = record.decision
  return { action: toRecordedAction(record), rule, reason }
}

export function toRecordedAction({ decision }: DecisionRecord): ReplayAction {
  const { code } = decision
  if (code === 'APPROVED' || code.startsWith('APPROVAL_')) return 'require_approval'
  return wordNow(decision)
}

function wordNow({ action, code }: { action: Decision['action']; code: string }): ReplayAction {
  return code === 'RATE_LIMITED' || code === 'SPEND_LIMITED' ? 'limited' : action
}
