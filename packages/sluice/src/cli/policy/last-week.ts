// What `protect` of a policy would hold of the calls on record of the last week, so that an upgrade or a change of
// `trust` is no surprise. The ledger holds no answers: of a call that changes something it is not known where its
// values came from, so the number is a bound.

import { attempt } from '@sluice/policy/core/attempt'
import type { CompiledPolicy } from '@sluice/policy/model/policy'
import { collectTraffic, evaluateTraffic } from '../../operations/past-traffic.ts'
import { plural } from '../../terminal/output.ts'
import { withLedger } from '../ledger/source.ts'
import { readSeenTools } from './seen-tools.ts'

const WEEK_MS = 7 * 86_400_000

/** As `describeLastWeek`; undefined if there is no ledger that can be read. */
export function tryLastWeek(...asked: Parameters<typeof describeLastWeek>): string | undefined {
  return attempt(() => describeLastWeek(...asked))
}

/** Undefined if the policy has no `protect`, or no call passed in that time. `name`: of the document. */
function describeLastWeek(data: string, name: string, policy: CompiledPolicy): string | undefined {
  if (policy.protect === undefined && policy.house?.protect === undefined) return undefined
  const options = {
    name,
    sinceMs: Date.now() - WEEK_MS,
    tools: readSeenTools(data),
    document: policy,
  }
  const passed = withLedger(data, (ledger) => collectTraffic(ledger, options)).calls.filter(
    (call) => call.passed,
  )
  if (passed.length === 0) return undefined
  const { stopped, unknown } = evaluateTraffic(policy, passed)
  const open = new Set(unknown)
  const changes = passed.filter(
    ({ record, past }) => open.has(record) && past.facts.tool?.category !== 'Read',
  )
  return `of ${plural(passed.length, 'call')} of the last week ${stopped.length} would be held by this policy, and at most ${changes.length} more by \`protect\``
}
