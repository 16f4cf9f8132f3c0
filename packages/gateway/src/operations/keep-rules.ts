// What `policy suggest` keeps of the document in force: every section but the rules of tools and categories, and of
// these what applies to a tool that was called. Nothing becomes looser: conditions are joined, the stricter of two
// actions stays, and a rule that is not provably as strict as those in whose place it comes is not written
// (`isAsStrict`). Then all rules stay, because what decides in their place may be looser.

import { findCategoryArguments } from '@sluice/catalogue/classify/classify-call'
import { type Action, isStronger, pickStronger } from '@sluice/policy/calls/actions'
import { CATEGORIES, type Category, type KnownTool } from '@sluice/policy/calls/tools'
import {
  isAtLeast,
  isAtLeastAsStrict,
  isFree,
  isShut,
  listPossibleActions,
  withoutTest,
} from '@sluice/policy/change/compare-rules'
import { compile } from '@sluice/policy/compile/compile'
import { getRulesForTool } from '@sluice/policy/decide/resolve'
import { parseYaml } from '@sluice/policy/document/parse-yaml'
import { Problems } from '@sluice/policy/document/problem'
import { CONTENT_METHODS } from '@sluice/policy/language/methods'
import { listPreparedRules } from '@sluice/policy/model/applicable-rules'
import type { CompiledPolicy } from '@sluice/policy/model/policy'
import type { Rule } from '@sluice/policy/model/rule'
import { isObject, type JsonObject, type JsonValue } from '@sluice/policy/values/json'
import { unescapePointer } from '@sluice/policy/values/json-pointer'
import type { TrafficCall } from './past-traffic.ts'

/** A rule of the document in force. */
export interface KeptRule extends Pick<Rule, 'pointer' | 'action' | 'otherwise' | 'extraArgs'> {
  readonly when: string | undefined
  /** As it is written; `{ action }` if it is one word. */
  readonly fields: JsonObject
  /** It allows everything, and counts nothing. */
  readonly isFree: boolean
}

/** What is left of the document when tools have other rules. */
export interface KeptParts {
  /** All sections but the rules of tools and categories, as text; its default denies. */
  readonly head: string
  /** Rules of categories and of tools that stay, as they are written, by their keys. */
  readonly categories: JsonObject
  readonly tools: JsonObject
  /** Rules of tools and categories that are gone, as JSON Pointers. */
  readonly removed: readonly string[]
}

export interface KeepOptions {
  /** Methods that were called, and what they did. */
  readonly methods: readonly (readonly [method: string, action: Action])[]
  /** Tools that get a rule of their own, and the rules in whose place it comes. */
  readonly replaced: ReadonlyMap<string, readonly KeptRule[]>
  /** Only rules of replaced tools go. */
  readonly keepsAll: boolean
}

export interface KeptDocument {
  /** What decides about a tool without rules. */
  readonly fallback: Action
  /** Rules that no other rule can take the place of, as JSON Pointers. */
  readonly needed: readonly string[]
  /** Those that apply to the tool of a call. */
  rulesFor(call: TrafficCall): readonly KeptRule[]
  /** Whether a rule, as it is written, is provably as strict for the tool of a call as all that applies to it. */
  isAsStrict(call: TrafficCall, rule: string): boolean
  keep(options: KeepOptions): KeptParts
}

const SECTIONS = ['tools', 'categories'] as const
type Section = (typeof SECTIONS)[number]

/** Undefined if the text is not a document. */
export function keepDocument(policy: CompiledPolicy, text: string): KeptDocument | undefined {
  const tree = parseYaml(text, new Problems('', text))
  const values: unknown = tree?.toJS({ maxAliasCount: 1_000 })
  if (!isObject(values)) return undefined
  const writtenIn = (section: string): JsonObject => {
    const entries = values[section]
    return isObject(entries) ? entries : {}
  }
  const keep = (rule: Rule): KeptRule => {
    const [, section = '', key = ''] = rule.pointer.split('/')
    const written: JsonValue | undefined = writtenIn(section)[unescapePointer(key)]
    const fields = isObject(written) ? written : { action: rule.action }
    return { ...rule, when: rule.when?.expression.text, fields, isFree: isFree(rule) }
  }
  return {
    fallback: policy.fallback,
    needed: listNeeded(policy),
    rulesFor: ({ past }) => {
      const { tool } = past.facts
      return tool === undefined ? [] : listToolRules(policy, tool).map(keep)
    },
    isAsStrict: ({ past }, rule) => {
      const { tool } = past.facts
      return tool !== undefined && isAsStrict(policy, tool, rule)
    },
    keep: (options) => {
      const [tools, ofTools] = splitSection('tools', policy, writtenIn('tools'), options)
      const written = writtenIn('categories')
      const [categories, ofCategories] = splitSection('categories', policy, written, options)
      const head = parseYaml(text, new Problems('', text))
      // Sections are added as lines, which a document in the form of JSON does not take.
      Object.assign(head?.contents ?? {}, { flow: false })
      for (const name of SECTIONS) head?.delete(name)
      head?.set('default', pickStronger(policy.fallback, 'deny'))
      for (const [method, rule] of listMethods(policy, options.methods, written))
        if (head?.hasIn(['methods', method]) === false) head.setIn(['methods', method], rule)
      const removed = [...ofTools, ...ofCategories]
      return { head: String(head).trimEnd(), tools, categories, removed }
    },
  }
}

/** The rules that stay, and the pointers of those that are gone. Those that only deny stay, too. */
function splitSection(
  section: Section,
  policy: CompiledPolicy,
  written: JsonObject,
  { keepsAll, replaced }: KeepOptions,
): readonly [stays: JsonObject, removed: readonly string[]] {
  const used = new Set([...replaced.values()].flat().map(({ pointer }) => pointer))
  const stays: [string, JsonValue][] = []
  const removed: string[] = []
  for (const rule of policy[section].values()) {
    const isReplaced = section === 'tools' && replaced.has(rule.key)
    if (!isReplaced && (keepsAll || isShut(rule)))
      stays.push([rule.key, written[rule.key] as JsonValue])
    else if (!used.has(rule.pointer)) removed.push(rule.pointer)
  }
  return [Object.fromEntries(stays), removed]
}

function listToolRules(policy: CompiledPolicy, tool: KnownTool): Rule[] {
  const own = listPreparedRules(getRulesForTool(policy, tool)).map(({ rule }) => rule)
  return own.flatMap((rule) => ('key' in rule ? [rule] : []))
}

/** A rule that may hide a tool, which `default: deny` does not; that of a category whose methods cannot have it too. */
function listNeeded({ categories, methods, tools }: CompiledPolicy): readonly string[] {
  const open = [...tools.values(), ...categories.values()].filter(
    (rule) => !rule.shadow && !isShut(rule),
  )
  const hiding = open.filter((rule) => listPossibleActions(rule).includes('hide'))
  const ofMethods = [...CONTENT_METHODS].flatMap(([method, category]) => {
    const [rule, own] = [categories.get(category), methods.get(method)]
    if (rule === undefined || !open.includes(rule) || own?.shadow === false) return []
    // Its limits count for all methods and tools together.
    return rule.limits.length > 0 || own !== undefined ? [rule] : []
  })
  return [...new Set([...hiding, ...ofMethods].map(({ pointer }) => pointer))]
}

/** Rules of methods: what that of their category says; if it says nothing, what was seen. */
function listMethods(
  { categories, fallback }: CompiledPolicy,
  seen: KeepOptions['methods'],
  written: JsonObject,
): (readonly [method: string, rule: JsonValue])[] {
  const ruleOf = (category: Category | undefined) => {
    const rule = category && categories.get(category)
    return rule === undefined || rule.shadow ? undefined : rule
  }
  const ofCategories = [...CONTENT_METHODS].flatMap(([method, category]) => {
    const rule = ruleOf(category)
    if (rule === undefined || isFree(rule) || isShut(rule) || rule.limits.length > 0) return []
    return [[method, written[category] as JsonValue] as const]
  })
  const ofTraffic = seen.flatMap(([method, action]) => {
    const rule = ruleOf(CONTENT_METHODS.get(method))
    if (rule !== undefined && !isFree(rule)) return []
    const least = rule === undefined ? fallback : 'allow'
    return isAtLeast(action, least) ? [[method, action] as const] : []
  })
  return [...ofCategories, ...ofTraffic]
}

function isAsStrict(policy: CompiledPolicy, tool: KnownTool, text: string): boolean {
  const { server, name } = tool.definition
  const id = JSON.stringify(`${server}/${name}`)
  const document = `version: 1\ndefault: deny\ntools:\n  ${id}: ${text}\n`
  const rule = compile({ file: 'rule', text: document }).policy?.tools.exact(server, name)
  if (rule === undefined) return false
  const isTighter = (now: Rule, one: KnownTool) =>
    isAtLeastAsStrict(now, listToolRules(policy, one), policy.fallback)
  const { category } = getRulesForTool(policy, tool)
  // A call that its arguments make worse meets the rules of that class, and there the test of the class is false.
  const elsewhere = withoutTest(rule, testClass(category)) ?? rule
  return (
    isTighter(rule, tool) &&
    listRaised(tool, category).every((raised) => isTighter(elsewhere, raised))
  )
}

/** The tool in each worse class that its arguments may give a call. */
function listRaised(tool: KnownTool, category: Category): readonly KnownTool[] {
  const isRaised = findCategoryArguments(tool.definition).some(({ kind }) => kind === 'pipeline')
  if (!isRaised) return []
  const worse = CATEGORIES.slice(CATEGORIES.indexOf(category) + 1)
  return worse.map((one) => ({ ...tool, category: one, unknown: false }))
}

function testClass(category: string): string {
  return `call.category == ${JSON.stringify(category)}`
}

/** A rule that asks or denies stays as it is; of several the strictest word. Undefined if all allow. */
export function writeUnfitted(rules: readonly KeptRule[]): string | undefined {
  const [strictest] = [...rules].sort((a, b) => (isStronger(a.action, b.action) ? -1 : 1))
  if (strictest === undefined || strictest.action === 'allow') return undefined
  const isAlone = rules.every((rule) => rule === strictest || rule.isFree)
  return JSON.stringify(isAlone ? strictest.fields : strictest.action)
}

/** The conditions of the rules, and those that were fitted. */
export function joinConditions(rules: readonly KeptRule[], fitted: readonly string[]): string {
  const own = rules.flatMap(({ when }) => (when === undefined ? [] : `(${when.trim()})`))
  // An exact name counts alone: a call that its arguments make worse would no longer meet the rule of that category.
  const ofCategory = rules.find(({ pointer }) => pointer.startsWith('/categories/'))
  const category = ofCategory?.pointer.split('/')[2]
  const stays = category === undefined ? [] : [testClass(category)]
  return [...own, ...stays, ...fitted].join(' && ')
}

/** A fitted rule, with limits, reason and approvers of the rules that it takes the place of. */
export function writeRule(fitted: JsonObject, rules: readonly KeptRule[]): string {
  const fields = rules.map((rule) => rule.fields)
  const pick = (name: string) => fields.find((one) => one[name] !== undefined)?.[name]
  const lists = (name: string) =>
    fields.flatMap((one) => (one[name] === undefined ? [] : (one[name] as JsonValue)))
  const [rates, spends] = [lists('rate_limit'), lists('spend_limit')]
  const [otherwise = fitted.otherwise] = rules
    .filter(({ when }) => when !== undefined)
    .map((rule) => rule.otherwise)
    .sort((a, b) => (isStronger(a, b) ? -1 : 1))
  const all = {
    ...fitted,
    otherwise: fitted.when === undefined ? undefined : otherwise,
    rate_limit: rates.length > 0 ? rates : fitted.rate_limit,
    spend_limit: spends.length > 0 ? spends : undefined,
    reason: pick('reason'),
    approval: pick('approval'),
  }
  // In the flow form of YAML, as people write a rule of one line.
  return writeFlow(all)
}

function writeFlow(value: unknown): string {
  if (Array.isArray(value))
    return value.length === 1 ? writeFlow(value[0]) : `[${value.map(writeFlow).join(', ')}]`
  if (!isObject(value))
    return typeof value === 'string' && /^[a-z_]+$/.test(value) ? value : JSON.stringify(value)
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return `{ ${members.map(([name, member]) => `${name}: ${writeFlow(member)}`).join(', ')} }`
}
