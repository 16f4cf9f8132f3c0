// The reference: "How a call is decided" of docs/reference/policy-language.md, written down as plainly as it
// reads, with no compile step and no cache. It knows one document (no `house`, no own paths) and
// takes the past as a list of events. The real engine must say the same; nothing here is shared
// with it but the types of packages/policy/src/calls and packages/policy/src/values.

import type { Action } from '@sluice/policy/calls/actions'
import { pickStronger } from '@sluice/policy/calls/actions'
import type { Call, Facts } from '@sluice/policy/calls/call'
import type { Category } from '@sluice/policy/calls/tools'
import type {
  RefDecision,
  RefDocument,
  RefEvent,
  RefGuardrail,
  RefRule,
  RefRules,
  RefVerdict,
} from './document.ts'
import { egressDenial } from './egress.ts'
import type { Ast, Env } from './expression.ts'
import { judge } from './expression.ts'
import { isGlob, isWider, matchesKey, matchesPart } from './globs.ts'
import type { Moment, Owner } from './limits.ts'
import { settle } from './limits.ts'
import { isHeldBy, listParts } from './protect.ts'

interface Named extends Owner {
  key: string
  rule: RefRule
}

interface NamedGuardrail extends Owner {
  key: string
  rule: RefGuardrail
}

/** From the harmless to the dangerous; `classify` takes the riskier. */
const BY_RISK: Category[] = ['Read', 'Write', 'Execute', 'Destructive', 'Financial']
export const PLUMBING = [
  'initialize',
  'server/discover',
  'ping',
  'logging/setLevel',
  'notifications/cancelled',
  'notifications/progress',
  'tools/list',
  'resources/list',
  'resources/templates/list',
  'prompts/list',
]
const JUDGED_AS: Record<string, Category> = {
  'resources/read': 'Read',
  'resources/subscribe': 'Read',
  'prompts/get': 'Read',
  'completion/complete': 'Read',
  'sampling/createMessage': 'Execute',
  'elicitation/create': 'Execute',
  'roots/list': 'Execute',
}
const SECTIONS: Record<string, 'tools' | 'resources' | 'prompts'> = {
  'tools/call': 'tools',
  'resources/read': 'resources',
  'resources/subscribe': 'resources',
  'prompts/get': 'prompts',
}

export function referenceDecide(
  document: RefDocument,
  call: Call,
  facts: Facts,
  used: readonly RefEvent[],
  nowMs: number,
): RefDecision {
  const none = { charges: [], guardrails: [], shadow: [], notes: { globs: 0, undecidable: 0 } }
  if (PLUMBING.includes(call.method)) return { action: 'allow', code: 'ALLOWED', rule: '', ...none }
  if (call.method === 'tools/call' && facts.tool === undefined)
    return { action: 'hide', code: 'DENIED', rule: '', ...none }
  if (call.method !== 'tools/call' && !(call.method in JUDGED_AS))
    return { action: 'deny', code: 'DENIED', rule: '', ...none }
  const moment = { call, facts, used, nowMs }
  const category = categoryOf(document, moment)
  const guess = decideByRules(document, moment, category)
  const isGuess = facts.tool?.unknown === true
  const others: Category[] = []
  if (call.method === 'tools/call' && !isClassified(document, call)) {
    if (isGuess) others.push('Execute')
    // What this very call does, if that is worse than what the tool does.
    const own = facts.callCategory
    if (own && BY_RISK.indexOf(own) > BY_RISK.indexOf(category ?? 'Read')) others.push(own)
  }
  const decision = others.reduce(
    (strictest, other) => stricterOf(strictest, decideByRules(document, moment, other)),
    guess,
  )
  if (document.mode !== 'shadow') return decision
  const { action, code, rule, charges, shadow, notes } = decision
  const recorded = [{ action, code, rule, charges }, ...shadow]
  return { ...none, action: 'allow', code: 'ALLOWED', rule: '/mode', shadow: recorded, notes }
}

function decideByRules(document: RefDocument, moment: Moment, category?: Category): RefDecision {
  const { call, facts, nowMs } = moment
  const notes = { globs: 0, undecidable: 0 }

  // 1. The rules that count.
  const counting = rulesThatCount(document, moment, category).sort(byPointer)
  notes.globs = counting.filter(({ key }) => isGlob(key)).length

  // 2. Each rule's verdict.
  const words = counting.map((named) => ({ pointer: named.pointer, word: verdict(named.rule) }))
  if (words.length === 0) words.push({ pointer: '/default', word: document.default })

  // 3. Guardrails.
  const guardrails = (document.guardrails ?? [])
    .map((rule, i) => ({ key: rule.name, by: rule.name, pointer: `/guardrails/${i}`, rule }))
    .filter((named) => matchesGuardrail(named.rule, call, category))
  const protection = call.method === 'tools/call' ? protectionOf(document, moment, category) : []
  const laidOver = [
    ...guardrails.filter(({ rule }) => !isShadow(rule) && holds(rule) !== false),
    ...protection,
  ].sort(byName)
  for (const { pointer, rule } of laidOver) {
    if (rule.action) words.push({ pointer, word: rule.action })
  }
  const egress = egressDenial(document, call)
  if (egress !== undefined) words.push({ pointer: egress, word: 'deny' })
  const strongest = words.map(({ word }) => word).reduce(pickStronger)
  const pointer = words.find(({ word }) => word === strongest)?.pointer ?? ''

  // 4. Limits.
  const settled = settle(strongest, pointer, [...counting, ...laidOver], moment)
  return {
    ...settled,
    guardrails: [
      ...laidOver.map(({ key }) => key),
      ...(egress === undefined ? [] : ['egress']),
    ].sort(),
    shadow: shadowVerdicts().sort((a, b) => compareText(a.rule, b.rule)),
    notes,
  }

  function verdict(rule: RefRule): Action {
    const outcome = holds(rule)
    if (outcome === true) return rule.action
    const otherwise = rule.otherwise ?? 'deny'
    return outcome === false ? otherwise : pickStronger(rule.action, otherwise)
  }

  /** A rule without `when` holds. */
  function holds(rule: { when?: Ast; extra_args?: 'allow' }): true | false | 'undecidable' {
    if (!rule.when) return true
    const env: Env = {
      args: call.args,
      schema: facts.tool?.definition.inputSchema,
      extraArgs: rule.extra_args === 'allow',
      toolCategory: category,
      callCategory: facts.callCategory ?? category,
      facts,
      nowMs,
    }
    const outcome = judge(rule.when, env)
    if (outcome === 'undecidable') notes.undecidable += 1
    return outcome
  }

  function shadowVerdicts(): RefVerdict[] {
    const rules = rulesThatMatch(document, moment, category).filter(({ rule }) => isShadow(rule))
    const over = [...guardrails]
      .sort(byName)
      .filter(({ rule }) => isShadow(rule) && holds(rule) !== false)
    return [
      ...rules.map((named) => settle(verdict(named.rule), named.pointer, [named], moment)),
      ...over.map((named) => settle(named.rule.action ?? 'allow', named.pointer, [named], moment)),
    ]
  }
}

/** The guardrails of `protect` that hold the call, or cannot say. */
function protectionOf(
  document: RefDocument,
  { call, facts }: Moment,
  category?: Category,
): NamedGuardrail[] {
  const checked = { call, facts, category: facts.callCategory ?? category }
  return listParts(document.protect)
    .filter(([, part]) => isHeldBy(part, document, checked) !== false)
    .map(([name, part]) => {
      const rule: RefGuardrail = { name, action: 'require_approval' }
      return { key: name, by: name, pointer: `/protect/${part}`, rule }
    })
}

/** A guess is not a class: the stricter word; where both say the same, the limits of both. */
function stricterOf(guess: RefDecision, doubt: RefDecision): RefDecision {
  const shadow = [...guess.shadow]
  for (const verdict of doubt.shadow) {
    const at = shadow.findIndex(({ rule }) => rule === verdict.rule)
    const before = shadow[at]
    if (before === undefined) shadow.push(verdict)
    else shadow[at] = { ...before, ...stricterVerdict(before, verdict) }
  }
  const chosen = stricterVerdict(guess, doubt)
  const from = chosen.of === 'doubt' ? doubt : guess
  const { of: _of, ...verdict } = chosen
  const notes = {
    globs: Math.max(guess.notes.globs, doubt.notes.globs),
    undecidable: guess.notes.undecidable + doubt.notes.undecidable,
  }
  return { ...from, ...verdict, shadow: shadow.map(withoutOf), notes }
}

function withoutOf({ action, code, rule, charges }: RefVerdict): RefVerdict {
  return { action, code, rule, charges }
}

function stricterVerdict(a: RefVerdict, b: RefVerdict): RefVerdict & { of: 'guess' | 'doubt' } {
  const { action, code, rule, charges } = a
  if (a.action !== b.action && pickStronger(a.action, b.action) === b.action)
    return { action: b.action, code: b.code, rule: b.rule, charges: b.charges, of: 'doubt' }
  if (a.action !== b.action) return { action, code, rule, charges, of: 'guess' }
  const known = new Set(charges.map((take) => JSON.stringify(take)))
  const more = b.charges.filter((take) => !known.has(JSON.stringify(take)))
  return { action, code, rule, charges: [...charges, ...more], of: 'guess' }
}

function isClassified(document: RefDocument, { server, name }: Call): boolean {
  return Object.keys(document.classify ?? {}).some((key) => matchesKey(key, server, name))
}

function categoryOf(document: RefDocument, { call, facts }: Moment): Category | undefined {
  if (call.method !== 'tools/call') return JUDGED_AS[call.method]
  const classify = document.classify ?? {}
  const exact = classify[`${call.server}/${call.name}`]
  if (exact) return exact
  const globs = Object.keys(classify).filter((key) => matchesKey(key, call.server, call.name))
  const categories = narrowest(globs).map((key) => classify[key])
  return BY_RISK.findLast((category) => categories.includes(category)) ?? facts.tool?.category
}

function rulesThatCount(document: RefDocument, moment: Moment, category?: Category): Named[] {
  const matching = rulesThatMatch(document, moment, category).filter(({ rule }) => !isShadow(rule))
  const inSection = matching.filter(({ pointer }) => !/^\/(categories|methods)\//.test(pointer))
  const exact = inSection.find(({ key }) => !isGlob(key))
  if (exact) return [exact]
  const narrow = narrowest(inSection.map(({ key }) => key))
  const globs = inSection.filter(({ key }) => narrow.includes(key))
  const byMethod = matching.find(({ pointer }) => pointer.startsWith('/methods/'))
  if (byMethod) return [...globs, byMethod]
  const isLifted = category && globs.some(({ rule }) => rule.over?.includes(category))
  const byCategory = matching.find(({ pointer }) => pointer.startsWith('/categories/'))
  return byCategory && !isLifted ? [...globs, byCategory] : globs
}

/** Every rule whose key fits the call: exact name, globs, the method's and the category's. */
function rulesThatMatch(
  document: RefDocument,
  { call: { server, name, method } }: Moment,
  category?: Category,
): Named[] {
  const section = SECTIONS[method]
  return [
    ...(section ? named(section, document[section], (key) => matchesKey(key, server, name)) : []),
    ...named('methods', document.methods, (key) => key === method),
    ...named('categories', document.categories, (key) => key === category),
  ]
}

function named(section: string, rules: RefRules = {}, fits: (key: string) => boolean): Named[] {
  return Object.keys(rules)
    .filter(fits)
    .map((key) => {
      const rule = rules[key] ?? 'deny'
      const pointer = `/${section}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
      return { key, pointer, by: pointer, rule: typeof rule === 'string' ? { action: rule } : rule }
    })
}

function narrowest(globs: string[]): string[] {
  return globs.filter((glob) => !globs.some((other) => isWider(glob, other)))
}

function matchesGuardrail({ match }: RefGuardrail, call: Call, category?: Category): boolean {
  const { categories, tools, servers, methods } = match ?? {}
  if (categories && !(category && categories.includes(category))) return false
  if (tools && call.method !== 'tools/call') return false
  if (tools && !tools.some((key) => matchesKey(key, call.server, call.name))) return false
  if (servers && !servers.some((part) => matchesPart(part, call.server))) return false
  return !methods || methods.includes(call.method)
}

function isShadow(rule: { mode?: 'enforce' | 'shadow' }): boolean {
  return rule.mode === 'shadow'
}

function byPointer(a: Named, b: Named): number {
  return compareText(a.pointer, b.pointer)
}

function byName(a: NamedGuardrail, b: NamedGuardrail): number {
  return compareText(a.key, b.key)
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
