// What the guard finds in an answer, as labels of the session, for policies that read them:
// `session.saw.injection` and `session.saw.secret`. Nothing is looked at where no rule asks, nor for
// what the session has seen already. Called by the gate for every answer that it lets through.

import type { JsonValue } from '../../core/json.ts'
import { inspectAnswer, type Wanted } from '../../guard/inspect-answer.ts'
import type { CompiledPolicy } from '../../policy/policy.ts'
import { labelsRead } from '../../policy/reads-label.ts'
import { isDense } from '../../wire/is-dense.ts'
import { PARSED_MARKS_MAX } from '../../wire/limits.ts'
import type { Log } from '../upstream/upstream.ts'

const NONE: readonly string[] = []
const WANTED: readonly Wanted[] = ['injection', 'secret']

export function labelsFound(
  policy: CompiledPolicy,
  result: string | undefined,
  { saw, from, log }: { saw(label: string): boolean; readonly from: string; readonly log: Log },
): readonly string[] {
  const read = labelsRead(policy)
  if (read.size === 0) return NONE
  const wanted = WANTED.filter((label) => read.has(label) && !saw(label))
  if (wanted.length === 0 || result === undefined) return NONE
  // What nobody looked at counts as found.
  if (isDense(result, PARSED_MARKS_MAX)) {
    log('warn', `the answer of ${from} has too many values to look at: it counts as ${wanted}`)
    return wanted
  }
  return inspectAnswer(JSON.parse(result) as JsonValue, wanted).map(({ kind, words }) => {
    log(
      'warn',
      `the answer of ${from} brings \`${kind}\` into the session: ${JSON.stringify(words)}`,
    )
    return kind
  })
}
