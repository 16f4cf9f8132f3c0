// Adds to a suggested policy what the packs know of the fields and the arguments of published servers, under
// `trust` and `destinations`: only for tools whose definition is the one that the pack was tested with.

import { type PolicySuggestion, suggestPolicy } from '@sluice/catalogue/pages/suggest-policy'
import { pinOf } from '@sluice/catalogue/pins/pin'
import { sha256 } from '@sluice/gateway/tools/pins'
import type { ToolDefinition } from '@sluice/policy/calls/tools'
import { listPacks, loadPack } from './load-pack.ts'
import { mergePack } from './merge-pack.ts'

/** Suggests a policy as `suggestPolicy` does, with what the packs know of the servers. */
export function suggestKnownPolicy(definitions: readonly ToolDefinition[]): PolicySuggestion {
  const { yaml, special } = suggestPolicy(definitions)
  const servers = [...new Set(definitions.map(({ server }) => server))]
  const packs = listPacks().map(loadPack)
  let text = yaml
  for (const server of servers)
    for (const pack of packs) {
      const known = definitions.filter(
        (one) => one.server === server && pack.definitions.tools[one.name] === pinOf(one, sha256),
      )
      if (known.length === 0) continue
      const tools = new Set(known.map(({ name }) => name))
      const sections = ['trust', 'destinations'] as const
      text = mergePack(text, { server, pack, tools, sections }).text
    }
  return { yaml: text, special }
}
