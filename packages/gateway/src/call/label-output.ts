// The labels of what a tool said outside of a call that the gate has decided: a client reports it, and its model
// reads it. Those that the policy gives the tool, and what the guard finds in it, as for any answer. Used by the
// gate for hooks.

import { inspectAnswer, type ScanTarget, tooLargeToInspect } from '@sluice/guard/inspect-answer'
import { TOOL_CALL } from '@sluice/policy/language/methods'
import type { CompiledPolicy } from '@sluice/policy/model/policy'
import { findReads } from '@sluice/policy/model/policy-reads'
import type { JsonValue } from '@sluice/policy/values/json'
import { INSPECTED_AT_ONCE_LENGTH_MAX } from '../shared/limits.ts'
import { labelsOf } from '../state/labels-of.ts'

export interface ReportedOutput {
  readonly server: string
  readonly tool: string
  readonly output: JsonValue
}

export function labelOutput(
  policy: CompiledPolicy,
  { server, tool, output }: ReportedOutput,
): string[] {
  const read = findReads(policy).labels
  const wanted = (['injection', 'secret'] as const).filter((label: ScanTarget) => read.has(label))
  const isTooLarge = JSON.stringify(output).length > INSPECTED_AT_ONCE_LENGTH_MAX
  const found = isTooLarge ? tooLargeToInspect(wanted) : inspectAnswer(output, wanted)
  return [
    ...labelsOf(policy, { server, method: TOOL_CALL, name: tool }),
    ...found.map(({ kind }) => kind),
  ]
}
