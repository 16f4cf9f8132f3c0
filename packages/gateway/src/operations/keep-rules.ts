// What `policy suggest` keeps of the document in force: every section but the rules of tools and categories, and of
// these what applies to a tool that was called. Nothing that they ask for is lost: conditions are joined, the
// stricter of two actions stays.

import { isStronger } from '@sluice/policy/calls/actions'
import { getRulesForTool } from '@sluice/policy/decide/resolve'
import { parseYaml } from '@sluice/policy/document/parse-yaml'
import { Problems } from '@sluice/policy/document/problem'
import { listPreparedRules } from '@sluice/policy/model/applicable-rules'
import type { CompiledPolicy } from '@sluice/policy/model/policy'
import type { Rule } from '@sluice/policy/model/rule'
import { isObject, type JsonObject, type JsonValue } from '@sluice/policy/values/json'
import { unescapePointer } from '@sluice/policy/values/json-pointer'
import type { TrafficCall } from './past-traffic.ts'

/** A rule of the document in force. */
export interface KeptRule extends Pick<Rule, 'pointer' | 'action' | 'otherwise'> {
  readonly when: string | undefined
  /** As it is written; `{ action }` if it is one word. */
  readonly fields: JsonObject
}

export interface KeptDocument {
  /** The rules of tools and categories. */
  readonly pointers: readonly string[]
  /** Those that apply to the tool of a call. */
  rulesFor(call: TrafficCall): readonly KeptRule[]
  /** All other sections as text, with `default: deny`; `methods` that are not in it are added. */
  writeHead(methods: readonly (readonly [method: string, action: string])[]): string
}

/** Undefined if the text is not a document. */
export function keepDocument(policy: CompiledPolicy, text: string): KeptDocument | undefined {
  const tree = parseYaml(text, new Problems('', text))
  const values: unknown = tree?.toJS({ maxAliasCount: 1_000 })
  if (!isObject(values)) return undefined
  const keep = (rule: Rule): KeptRule => {
    const [, section = '', key = ''] = rule.pointer.split('/')
    const entries = values[section]
    const written: JsonValue | undefined = isObject(entries)
      ? entries[unescapePointer(key)]
      : undefined
    const fields = isObject(written) ? written : { action: rule.action }
    return { ...rule, when: rule.when?.expression.text, fields }
  }
  const sections = ['tools', 'categories'] as const
  return {
    pointers: sections.flatMap((name) => [...policy[name].values()].map(({ pointer }) => pointer)),
    rulesFor: ({ past }) => {
      const { tool } = past.facts
      if (tool === undefined) return []
      const own = listPreparedRules(getRulesForTool(policy, tool)).map(({ rule }) => rule)
      return own.flatMap((rule) => ('key' in rule ? keep(rule) : []))
    },
    writeHead: (methods) => {
      const head = parseYaml(text, new Problems('', text))
      for (const name of sections) head?.delete(name)
      head?.set('default', 'deny')
      for (const [method, action] of methods)
        if (head?.hasIn(['methods', method]) === false) head.setIn(['methods', method], action)
      return String(head).trimEnd()
    },
  }
}

/** A rule that asks or denies stays as it is; of several the strictest word. Undefined if all allow. */
export function writeUnfitted(rules: readonly KeptRule[]): string | undefined {
  const [strictest] = [...rules].sort((a, b) => (isStronger(a.action, b.action) ? -1 : 1))
  if (strictest === undefined || strictest.action === 'allow') return undefined
  return JSON.stringify(rules.length === 1 ? strictest.fields : strictest.action)
}

/** The conditions of the rules, and those that were fitted. */
export function joinConditions(rules: readonly KeptRule[], fitted: readonly string[]): string {
  const own = rules.flatMap(({ when }) => (when === undefined ? [] : `(${when.trim()})`))
  // An exact name counts alone: a call that its arguments make worse would no longer meet the rule of that category.
  const ofCategory = rules.find(({ pointer }) => pointer.startsWith('/categories/'))
  const category = ofCategory?.pointer.split('/')[2]
  const stays = category === undefined ? [] : [`call.category == ${JSON.stringify(category)}`]
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
