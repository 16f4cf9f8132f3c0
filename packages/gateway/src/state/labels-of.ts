// What a policy says by name about a message of a server's: the labels that it brings into a session, and
// the rules for answers. A resource or prompt brings what every tool of its server would, and so does
// anything else that is not the answer of a tool (lists, notifications, questions): a session must not
// forget by asking another way.

import { readUri } from '@sluice/policy/expression/functions/resource-uri'
import { parseGlob, wildcardMatches } from '@sluice/policy/language/glob'
import { TOOL_CALL } from '@sluice/policy/language/methods'
import type { CompiledPolicy, NameMap } from '@sluice/policy/model/policy'
import type { MessageSource } from '../shared/transport.ts'

const NONE: readonly string[] = []

interface NamedSource extends MessageSource {
  readonly server: string
}

export function labelsOf({ labels }: CompiledPolicy, source: NamedSource): readonly string[] {
  if (labels.size === 0) return NONE
  const labelLists = valuesFor(labels, source)
  return labelLists.length === 0 ? NONE : [...new Set(labelLists.flat())]
}

export function valuesFor<T>(map: NameMap<T>, { server, method, name }: NamedSource): T[] {
  if (method.startsWith('tasks/')) return allOf(map, server)
  if (method === TOOL_CALL || name === '') return map.all(server, name)
  // Another spelling of a URI brings no less.
  const { readings, shorter } = readUri(name)
  const all = new Set([name, ...readings, ...shorter, ''])
  return [...new Set([...all].flatMap((each) => map.all(server, each)))]
}

/** A task may be asked about in another session than its call's: any tool may have made it. */
function allOf<T>(map: NameMap<T>, server: string): T[] {
  return map
    .entries()
    .filter(([key]) => wildcardMatches(parseGlob(key).server, server))
    .map(([, value]) => value)
}
