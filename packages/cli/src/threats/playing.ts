// How a session is played outside of a gate: what the catalogue and the guard find in each call and answer, as the gate
// would. For `policy simulate`, `ci` and the search for threats.

import { classifyCall } from '@sluice/catalogue/classify/classify-call'
import { holdsSecret, inspectAnswer } from '@sluice/guard/inspect-answer'
import { holdsData } from '@sluice/guard/locate-data'
import type { SimulationOptions } from '@sluice/policy/cases/simulate'
import { MemoryCounters } from '@sluice/policy/counters/memory-counters'
import type { CompiledPolicy } from '@sluice/policy/model/policy'
import { findReads } from '@sluice/policy/model/policy-reads'

/** What the product finds, for a policy that may not read all of it. */
export function listPlayingOptions(
  policy: CompiledPolicy,
): Pick<SimulationOptions, 'counters' | 'inspect' | 'inspectCall'> {
  const { labels } = findReads(policy)
  const wanted = (['injection', 'secret'] as const).filter((label) => labels.has(label))
  return {
    counters: () => new MemoryCounters(),
    inspect: (answer) =>
      wanted.length === 0 ? [] : inspectAnswer(answer, wanted).map(({ kind }) => kind),
    inspectCall: (tool, args) => {
      const callCategory = classifyCall(tool, args)
      return {
        ...(callCategory === undefined ? {} : { callCategory }),
        holdsSecret: () => holdsSecret(args),
        holds: (kind) => holdsData(args, kind),
      }
    },
  }
}
