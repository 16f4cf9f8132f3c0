// The recorded calls under another policy: each is decided again, in their order, with limits
// counted as they would have been. Reports which decisions change, and what cannot be known. Reads only;
// called by `policy replay`.

import type { DatabaseSync } from 'node:sqlite'
import { recordsFrom } from '@sluice/ledger/chain/read'
import type { DecisionRecord, LedgerRecord } from '@sluice/ledger/records/record'
import type { Decision } from '@sluice/policy/calls/decision'
import type { KnownTool } from '@sluice/policy/calls/tools'
import { hasEqualRules } from '@sluice/policy/cases/has-equal-rules'
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
  /** Calls that the document in force decided, and that the edit does not touch. */
  untouched: number
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
  /** The document in force, by its id as in records. */
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
    flips: [],
    reasons: new Map(),
  }
  readonly #options: ReplayOptions
  readonly #counters = new MemoryCounters()
  readonly #countsFromMs: number
  readonly #past: RecordedCalls
  readonly #flips = new Map<string, DecisionChange>()

  constructor(options: ReplayOptions) {
    this.#options = options
    this.#past = new RecordedCalls(options.tools, options.policy)
    this.#countsFromMs = options.sinceMs - longestWindowMs(options.policy)
  }

  take(record: LedgerRecord): void {
    if (isDecided(record, this.#options.name) && record.atMs >= this.#countsFromMs)
      this.#judge(record)
    this.#past.follow(record)
  }

  #judge(record: DecisionRecord): void {
    const now = { wallMs: record.atMs, monotonicMs: record.atMs }
    const { result: found } = this
    const counts = record.atMs >= this.#options.sinceMs
    if (counts) found.calls++
    const keep = (): void => {
      if (record.kind === 'intent') this.#counters.consume(record.decision.limits, now)
      if (counts) found.same++
    }
    if (record.policy === this.#options.id) return keep()
    const past = this.#past.recall(record)
    const isUntouched = this.#isUntouched(record, past)
    if (isUntouched && counts) found.untouched++
    const result = replayCall(this.#options.policy, past, this.#counters, now)
    if (result.unknown !== undefined && isUntouched) return keep()
    if (result.unknown !== undefined) {
      if (!counts) return
      found.unknown++
      found.reasons.set(result.unknown, (found.reasons.get(result.unknown) ?? 0) + 1)
      return
    }
    const { decision } = result
    if (decision.action === 'allow') this.#counters.consume(decision.limits, now)
    if (!counts) return
    const [from, to] = [toRecordedAction(record), wordNow(decision)]
    if (from === to) found.same++
    else this.#flip(record, from, to, decision)
  }

  #isUntouched({ policy }: DecisionRecord, { call, facts }: RecordedCall): boolean {
    const { current } = this.#options
    if (current?.id === undefined || policy !== current.id) return false
    return hasEqualRules(current.policy, this.#options.policy, {
      call: { ...call, args: {} },
      facts,
    })
  }

  #flip(
    record: DecisionRecord,
    from: ReplayAction,
    to: ReplayAction,
    { rule, reason }: Decision,
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

/** How records end that were made before people could be asked. */
const NOBODY_TO_ASK = '; nobody can be asked yet, so it is denied'

export function toRecordedAction({ decision }: DecisionRecord): ReplayAction {
  const { code, reason } = decision
  if (code === 'APPROVED' || code.startsWith('APPROVAL_')) return 'require_approval'
  if (reason.endsWith(NOBODY_TO_ASK)) return 'require_approval'
  return wordNow(decision)
}

function wordNow({ action, code }: { action: Decision['action']; code: string }): ReplayAction {
  return code === 'RATE_LIMITED' || code === 'SPEND_LIMITED' ? 'limited' : action
}
