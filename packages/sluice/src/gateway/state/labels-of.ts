// What a message of a server's brings into a session, by the policy's labels. A resource or prompt
// brings what every tool of its server would, and so does anything else that is not the answer of a
// tool (lists, notifications, questions): a session must not forget by asking another way.

import { readUri } from '@sluice/policy/expression/functions/resource-uri'
import { parseGlob, wildcardMatches } from '@sluice/policy/language/glob'
import { TOOL_CALL } from '@sluice/policy/language/methods'
import type { CompiledPolicy } from '@sluice/policy/model/policy'
import type { MessageSource } from '../shared/transport.ts'

const NONE: readonly string[] = []

export function labelsOf(
  { labels }: CompiledPolicy,
  { server, method, name }: MessageSource & { readonly server: string },
): readonly string[] {
  if (labels.size === 0) return NONE
  if (method.startsWith('tasks/')) return allOf(labels, server)
  const found = labels.all(server, name)
  if (method === TOOL_CALL || name === '') return found.length === 0 ? NONE : found.flat()
  // Another spelling of a URI brings no fewer labels.
  const { readings, shorter } = readUri(name)
  const all = new Set([name, ...readings, ...shorter, ''])
  return [...new Set([...all].flatMap((each) => labels.all(server, each).flat()))]
}

/** A task may be asked about in another session than its call's: any tool may have made it. */
function allOf(labels: CompiledPolicy['labels'], server: string): readonly string[] {
  return labels
    .entries()
    .filter(([key]) => wildcardMatches(parseGlob(key).server, server))
    .flatMap(([, found]) => found)
}
