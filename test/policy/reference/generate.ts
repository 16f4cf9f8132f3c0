// Draws a world for the comparison: a valid document, as text for the real engine and as an object
// for the reference, the tools it is about, and a batch of calls in the order of time. What the
// page forbids is never drawn; what it allows and is easy to get wrong is drawn often.

import type { Action } from '@sluice/policy/calls/actions'
import type { Category, KnownTool } from '@sluice/policy/calls/tools'
import { CATEGORIES } from '@sluice/policy/calls/tools'
import { stringify } from 'yaml'
import {
  REF_ARGUMENT_ROLES,
  type RefArgumentRole,
  type RefDocument,
  type RefRule,
} from './document.ts'
import { HOSTS } from './egress.ts'
import type { Ast } from './expression.ts'
import { render } from './expression.ts'
import type { GeneratedCall } from './generate-calls.ts'
import {
  generateCalls,
  generateTools,
  JUDGED_METHODS,
  PROMPTS,
  RESOURCES,
  SERVERS,
} from './generate-calls.ts'
import { generateGuardrails } from './generate-guardrails.ts'
import { generateClassify, generateGlobs, possibleCategories, toolNames } from './generate-keys.ts'
import { generateRule, LABELS, NO_TOOL, scopeOf } from './generate-rules.ts'
import { isGlob, matchesKey } from './globs.ts'
import type { Random } from './random.ts'
import { chance, pick, shuffled, some, weighted } from './random.ts'

export { seededRandom } from './random.ts'

export interface World {
  documentText: string
  document: RefDocument
  tools: KnownTool[]
  calls: GeneratedCall[]
}

const CALLS_PER_WORLD = 200

export function generateWorld(random: Random): World {
  const isProtected = chance(random, 0.4)
  const tools = generateTools(random, isProtected)
  const document = generateDocument(random, tools, isProtected)
  return {
    documentText: writeDocument(random, document),
    document,
    tools,
    calls: generateCalls(random, tools, { labels: LABELS, isProtected }, CALLS_PER_WORLD),
  }
}

function writeDocument(random: Random, document: RefDocument): string {
  const isTree = (key: string, value: unknown) => key === 'when' && typeof value === 'object'
  const json = JSON.stringify(
    document,
    function (this: Record<string, unknown>, key, value) {
      const original = this[key]
      if (isTree(key, original)) return render(original as Ast)
      return value
    },
    2,
  )
  return chance(random, 0.5) ? json : stringify(JSON.parse(json))
}

function generateDocument(random: Random, tools: KnownTool[], isProtected: boolean): RefDocument {
  const classify = generateClassify(random, tools)
  const ruled = some(random, CATEGORIES, 0.5)
  const inCategory = (category: Category) =>
    tools.filter((tool) => possibleCategories(tool, classify).includes(category))
  const categories = Object.fromEntries(
    ruled.map((category) => [
      category,
      generateRule(random, scopeOf(random, inCategory(category))),
    ]),
  )
  const methods = Object.fromEntries(
    some(random, JUDGED_METHODS, 0.25).map((name) => [name, generateRule(random, NO_TOOL)]),
  )
  const document: RefDocument = {
    version: 1,
    default: weighted(random, { allow: 4, require_approval: 3, deny: 2, hide: 1 }),
    ...(chance(random, 0.04) ? { mode: 'shadow' } : chance(random, 0.1) ? { mode: 'enforce' } : {}),
    categories,
    tools: generateToolRules(random, tools, ruled, classify),
    guardrails: generateGuardrails(random, tools, classify),
    labels: generateLabels(random, tools, isProtected),
    classify,
    ...(isProtected ? { protect: pick(random, ['balanced', 'strict']) } : {}),
    ...(isProtected && chance(random, 0.5)
      ? { destinations: generateDestinations(random, tools) }
      : {}),
    // The two are drawn from tables of texts of their own.
    ...(!isProtected && chance(random, 0.3) ? { egress: generateEgress(random, tools) } : {}),
    methods,
    resources: generateNamedRules(random, RESOURCES, ruled.includes('Read') && !anyRead(methods)),
    prompts: generateNamedRules(random, PROMPTS, ruled.includes('Read') && !anyRead(methods)),
  }
  const isEmpty = (value: unknown) =>
    typeof value === 'object' && Object.keys(value ?? {}).length === 0
  const kept = Object.entries(document).filter(
    ([, value]) => !isEmpty(value) || chance(random, 0.2),
  )
  return Object.fromEntries(shuffled(random, kept)) as unknown as RefDocument
}

function generateLabels(
  random: Random,
  tools: KnownTool[],
  isProtected: boolean,
): Record<string, string[]> {
  const globs = generateGlobs(random, toolNames(tools))
  const flows = isProtected ? some(random, globs, 0.2) : []
  const words = flows.map((key) => [key, [pick(random, ['internal', 'external', 'public'])]])
  return { ...Object.fromEntries(words), [pick(random, globs)]: ['red', 'blue'] }
}

/** Of `body`, which has several words, only what does not take it as a whole. */
function generateDestinations(
  random: Random,
  tools: KnownTool[],
): Record<string, Record<string, RefArgumentRole>> {
  const names = toolNames(tools)
  const keys = [...some(random, names, 0.2), ...generateGlobs(random, names)]
  const roles = () => [
    ...some(random, ['to', 'url', 'due', 'mode', 's', 'n', 'tags', 'o', 'o.z', 'more'], 0.3).map(
      (path) => [path, pick(random, REF_ARGUMENT_ROLES)] as const,
    ),
    ...(chance(random, 0.2) ? [['body', pick(random, ['text', 'none'] as const)] as const] : []),
  ]
  return Object.fromEntries(keys.map((key) => [key, Object.fromEntries(roles())]))
}

function generateEgress(random: Random, tools: KnownTool[]): Record<string, string[]> {
  const names = toolNames(tools)
  const keys = [...some(random, names, 0.2), ...generateGlobs(random, names)]
  return Object.fromEntries(keys.map((key) => [key, some(random, HOSTS, 0.7)]))
}

/** Where one of these has a rule of its own, `over: [Read]` might do nothing. */
function anyRead(methods: object): boolean {
  return ['resources/read', 'resources/subscribe', 'prompts/get'].some((name) => name in methods)
}

function generateToolRules(
  random: Random,
  tools: KnownTool[],
  ruled: Category[],
  classify: Record<string, Category>,
): Record<string, Action | RefRule> {
  const names = toolNames(tools)
  const rules: [string, Action | RefRule][] = []
  for (const name of some(random, names, 0.12)) {
    rules.push([
      name,
      generateRule(
        random,
        scopeOf(
          random,
          tools.filter((_, i) => names[i] === name),
        ),
      ),
    ])
  }
  for (const glob of generateGlobs(random, names)) {
    const met = tools.filter(({ definition: d }) => matchesKey(glob, d.server, d.name))
    const categories = met.flatMap((tool) => possibleCategories(tool, classify))
    const liftable = ruled.filter((category) => categories.includes(category))
    rules.push([glob, withOver(random, generateRule(random, scopeOf(random, met)), liftable)])
  }
  return Object.fromEntries(shuffled(random, rules))
}

function generateNamedRules(
  random: Random,
  names: string[],
  canLift: boolean,
): Record<string, Action | RefRule> {
  const full = SERVERS.flatMap((server) => names.map((name) => `${server}/${name}`))
  const keys = [...some(random, full, 0.08), ...some(random, generateGlobs(random, full), 0.5)]
  return Object.fromEntries(
    keys.map((key) => {
      const rule = generateRule(random, NO_TOOL)
      return [key, withOver(random, rule, canLift && isGlob(key) ? ['Read'] : [])]
    }),
  )
}

function withOver(random: Random, rule: Action | RefRule, liftable: Category[]): Action | RefRule {
  const over = some(random, liftable, 0.4)
  if (over.length === 0) return rule
  return typeof rule === 'string' ? { action: rule, over } : { ...rule, over }
}
