// Which tools of a server a model may call in place of a denied one: those that share a word with its
// name, that do less than it (advice must not show a way around a rule), and that the caller sees and may
// call. Used by visible-lists.ts.

import { CATEGORIES, type KnownTool } from '@sluice/policy/core/tools'
import { ADVICE_NAMES_MAX, ADVICE_TOOLS_MAX } from './limits.ts'

/** Most similar first. */
export function pickAlternatives(
  denied: KnownTool,
  tools: Iterable<KnownTool>,
  mayCall: (tool: KnownTool) => boolean,
): readonly string[] {
  const wanted = new Set(splitWords(denied.definition.name))
  const rankMax = Math.max(0, Math.min(rankOf(denied) - 1, WRITE))
  let compared = 0
  const ranked: { readonly tool: KnownTool; readonly shared: number }[] = []
  for (const tool of tools) {
    if (++compared > ADVICE_TOOLS_MAX) break
    const { name } = tool.definition
    if (name === denied.definition.name || rankOf(tool) > rankMax || !PLAIN_NAME.test(name))
      continue
    const shared = splitWords(name).filter((word) => wanted.has(word)).length
    if (shared > 0) ranked.push({ tool, shared })
  }
  ranked.sort((one, other) => other.shared - one.shared || rankOf(one.tool) - rankOf(other.tool))
  const names: string[] = []
  for (const { tool } of ranked) {
    if (names.length === ADVICE_NAMES_MAX) break
    if (mayCall(tool)) names.push(tool.definition.name)
  }
  return names
}

/** A server chooses its names: one that could be read as a sentence is not repeated by the gate. */
const PLAIN_NAME = /^[\w.-]{1,64}$/
const WRITE = CATEGORIES.indexOf('Write')

function rankOf({ category }: KnownTool): number {
  return CATEGORIES.indexOf(category)
}

function splitWords(name: string): string[] {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
  return words.filter((word) => word.length > 2).map((word) => word.replace(/s$/, ''))
}
