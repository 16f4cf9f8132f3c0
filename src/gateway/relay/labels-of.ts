// What the answer to a call brings into its session, by the policy's labels. A resource or prompt
// brings what every tool of its server would: a session must not forget by asking another way.

import { TOOL_CALL } from '../../policy/methods.ts'
import type { CompiledPolicy } from '../../policy/policy.ts'
import { readUri } from '../../policy/resource-uri.ts'

const NONE: readonly string[] = []

export function labelsOf(
  { labels }: CompiledPolicy,
  call: { readonly server: string; readonly method: string; readonly name: string },
): readonly string[] {
  const { server, method, name } = call
  const found = labels.all(server, name)
  if (method === TOOL_CALL) return found.length === 0 ? NONE : found.flat()
  // Another spelling of a URI brings no fewer labels.
  const { readings, shorter } = readUri(name)
  const all = new Set([name, ...readings, ...shorter, ''])
  return [...new Set([...all].flatMap((each) => labels.all(server, each).flat()))]
}
