// Draws guardrails with every kind of match, and a word, limits or both; limits never beside
// `deny` or `hide`, where nobody would look at them. Called by generate.ts.

import type { Category, KnownTool } from '@sluice/policy/calls/tools'
import { CATEGORIES } from '@sluice/policy/calls/tools'
import type { RefGuardrail, RefMatch } from './document.ts'
import { readsArgs } from './expression.ts'
import { JUDGED_METHODS } from './generate-calls.ts'
import { generateGlobs, possibleCategories, toolNames } from './generate-keys.ts'
import { addLimits, addMode, generateRate, NO_TOOL, scopeOf, whenFor } from './generate-rules.ts'
import { matchesKey, matchesPart } from './globs.ts'
import type { Random } from './random.ts'
import { between, chance, isFirst, nonEmpty, pick, some, weighted } from './random.ts'

export function generateGuardrails(
  random: Random,
  tools: KnownTool[],
  classify: Record<string, Category>,
): RefGuardrail[] {
  const names = some(random, ['zeal', 'alpha', 'mid', 'beta'], 0.4)
  return names.map((name) => generateGuardrail(random, name, tools, classify))
}

function generateGuardrail(
  random: Random,
  name: string,
  tools: KnownTool[],
  classify: Record<string, Category>,
): RefGuardrail {
  const guardrail: RefGuardrail = { name }
  const match = generateMatch(random, tools)
  if (match) guardrail.match = match
  const isForTools = !match?.methods || match.methods.includes('tools/call')
  const met = tools.filter((tool) => {
    const { definition: d } = tool
    const categories = possibleCategories(tool, classify)
    if (match?.categories && !match.categories.some((c) => categories.includes(c))) return false
    if (match?.servers && !match.servers.some((part) => matchesPart(part, d.server))) return false
    return !match?.tools || match.tools.some((key) => matchesKey(key, d.server, d.name))
  })
  const scope = isForTools ? scopeOf(random, met) : NO_TOOL
  const form = weighted(random, { word: 4, limit: 2, both: 1 })
  if (form !== 'limit') {
    guardrail.action = weighted(random, { require_approval: 3, deny: 1, hide: 1 })
    if (form === 'both') guardrail.action = 'require_approval'
  }
  if (chance(random, form === 'limit' ? 0.4 : 0.85)) {
    const hides = guardrail.action === 'hide'
    guardrail.when = whenFor(random, hides ? { ...scope, args: [], hides } : scope)
    if (readsArgs(guardrail.when) && chance(random, 0.3)) guardrail.extra_args = 'allow'
  }
  if (form !== 'word') {
    addLimits(random, guardrail, scope, 0.4)
    if (!guardrail.rate_limit && !guardrail.spend_limit) {
      guardrail.rate_limit = { ...generateRate(random, scope), max: between(random, 3, 20) }
    }
  }
  if (guardrail.action === 'require_approval' && chance(random, 0.3)) {
    guardrail.approval = { timeout: '5m' }
  }
  if (guardrail.action !== 'hide' && chance(random, 0.3))
    guardrail.reason = 'because of the guardrail'
  addMode(random, guardrail)
  return guardrail
}

function generateMatch(random: Random, tools: KnownTool[]): RefMatch | undefined {
  const names = toolNames(tools)
  const categories = () => nonEmpty(random, CATEGORIES)
  const keys = () =>
    [pick(random, generateGlobs(random, names)), pick(random, names)].filter(isFirst)
  const servers = () => nonEmpty(random, ['a', 'b', 'a*', '?', '*b', '*'])
  switch (weighted(random, { all: 1, categories: 3, tools: 3, servers: 2, methods: 2, mixed: 3 })) {
    case 'all':
      return undefined
    case 'categories':
      return { categories: categories() }
    case 'tools':
      return { tools: keys() }
    case 'servers':
      return { servers: servers() }
    case 'methods':
      return { methods: nonEmpty(random, ['tools/call', ...JUDGED_METHODS]) }
    case 'mixed':
      return chance(random, 0.5)
        ? { categories: categories(), servers: servers() }
        : { tools: keys(), methods: ['tools/call'], servers: ['*'] }
  }
}
