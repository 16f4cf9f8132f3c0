// What a policy would have held of the calls on record of the last week, so that an upgrade, the end of observe mode
// or a change of `trust` is no surprise. The ledger holds no answers and few arguments, so of some calls it is not known.

import { collectTraffic, evaluateTraffic } from '@sluice/gateway/operations/past-traffic'
import { idOfDocument } from '@sluice/gateway/operations/recorded-calls'
import type { CompiledPolicy } from '@sluice/policy/model/policy'
import { attempt } from '@sluice/policy/structures/attempt'
import { withLedger } from '../ledger/source.ts'
import { plural } from '../terminal/output.ts'
import { readSeenTools } from './seen-tools.ts'

const WEEK_MS = 7 * 86_400_000

/** A document as a gate of this data directory has it. */
export interface CheckedDocument {
  readonly data: string
  readonly name: string
  readonly text: string
  readonly policy: CompiledPolicy
}

export interface LastWeek {
  /** One line for people. */
  readonly says: string
  /** What tells it better. */
  readonly help: string
}

/** Undefined if there is no ledger that can be read, nothing passed, or the policy neither protects nor observes. */
export function tryLastWeek(document: CheckedDocument): LastWeek | undefined {
  return attempt(() => describeLastWeek(document))
}

function describeLastWeek({ data, name, text, policy }: CheckedDocument): LastWeek | undefined {
  const isProtected = policy.protect !== undefined || policy.base?.protect !== undefined
  if (!isProtected && !policy.shadow) return undefined
  const sinceMs = Date.now() - WEEK_MS
  const options = { name, sinceMs, tools: readSeenTools(data), document: policy }
  const passed = withLedger(data, (ledger) => collectTraffic(ledger, options)).calls.filter(
    (call) => call.passed,
  )
  if (passed.length === 0) return undefined
  const { stopped, unknown } = evaluateTraffic(policy, passed, idOfDocument(name, text, policy))
  const rest =
    unknown.length === 0
      ? ''
      : `, and at most ${unknown.length} more: what decides those is not on record`
  return {
    says: `of ${plural(passed.length, 'call')} of the last week ${stopped.length} would be held by this policy${rest}`,
    help: policy.shadow
      ? '`sluice enforce --dry-run` lists what it would have held'
      : 'sessions that `sluice traces record` records tell it exactly, with `sluice policy simulate`',
  }
}
