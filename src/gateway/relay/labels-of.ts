// What the answer to a call brings into its session, by the policy's labels. A resource or prompt
// brings what every tool of its server would: a session must not forget by asking another way.

import { TOOL_CALL } from '../../policy/methods.ts'
import type { CompiledPolicy } from '../../policy/policy.ts'

const NONE: readonly string[] = []

export function labelsOf(
  { labels }: CompiledPolicy,
  call: { readonly server: string; readonly method: string; readonly name: string },
): readonly string[] {
  const found = labels.all(call.server, call.name)
  if (found.length === 0 && call.method === TOOL_CALL) return NONE
  const own = found.flat()
  return call.method === TOOL_CALL ? own : [...own, ...labels.all(call.server, '').flat()]
}
