// Draws keys: globs that each match a known name, nested, overlapping and in several spellings of
// the same language; and the classes that `classify` gives. Called by the other generators.

import type { Category, KnownTool } from '@sluice/policy/calls/tools'
import { CATEGORIES } from '@sluice/policy/calls/tools'
import { matchesKey } from './globs.ts'
import type { Random } from './random.ts'
import { between, chance, pick, some, weighted } from './random.ts'

export function toolNames(tools: KnownTool[]): string[] {
  return tools.map(({ definition: { server, name } }) => `${server}/${name}`)
}

/** Globs that each match one of `names`: nested, overlapping, and other spellings of the same. */
export function generateGlobs(random: Random, names: string[]): string[] {
  const globs: string[] = []
  const count = between(random, 3, 10)
  while (globs.length < count) {
    const isNew = globs.length === 0 || chance(random, 0.5)
    const from = isNew ? pick(random, names) : pick(random, globs)
    globs.push(
      isNew
        ? wilder(random, from)
        : chance(random, 0.5)
          ? wilder(random, from)
          : respelt(random, from),
    )
  }
  return [...new Set(globs)]
}

function wilder(random: Random, key: string): string {
  const slash = key.indexOf('/')
  const server = chance(random, 0.4) ? wilderPart(random, key.slice(0, slash)) : key.slice(0, slash)
  return `${server}/${wilderPart(random, key.slice(slash + 1))}`
}

function wilderPart(random: Random, part: string): string {
  const letters = [...part]
  const from = between(random, 0, Math.max(0, letters.length - 1))
  const form = weighted(random, { one: 3, rest: 3, start: 2, all: 1, some: 2, more: 1 })
  if (form === 'all' || letters.length === 0) return '*'
  if (form === 'rest') return `${letters.slice(0, from).join('')}*`
  if (form === 'start') return `*${letters.slice(from + 1).join('')}`
  if (form === 'more') return `${part}*`
  letters[from] = form === 'one' ? '?' : '*'
  return letters.join('')
}

/** Another spelling of the same language where there is one. */
function respelt(random: Random, glob: string): string {
  const forms = [
    glob.replace('*', '**'),
    glob.replace('*?', '?*'),
    glob.replace('?*', '*?'),
    glob.replace('**', '*'),
  ]
  return pick(random, forms)
}

export function generateClassify(random: Random, tools: KnownTool[]): Record<string, Category> {
  const names = toolNames(tools)
  const keys = [...some(random, names, 0.08), ...some(random, generateGlobs(random, names), 0.35)]
  return Object.fromEntries(keys.map((key) => [key, pick(random, CATEGORIES)]))
}

export function possibleCategories(
  tool: KnownTool,
  classify: Record<string, Category>,
): Category[] {
  const { server, name } = tool.definition
  const matching = Object.keys(classify).filter((key) => matchesKey(key, server, name))
  return matching.length > 0 ? matching.map((key) => classify[key] as Category) : [tool.category]
}
