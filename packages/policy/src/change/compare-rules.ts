// What a change of one rule or guardrail loosens, if anything: compares the two part by part. A
// part that cannot be proved as strict is treated as looser. Called by compare.ts.

import { type Action, isStronger, pickStronger } from '../calls/actions.ts'
import type { CelNode } from '../expression/cel.ts'
import type { Expression } from '../expression/expression.ts'
import type { Guardrail, Limit, Rule } from '../model/rule.ts'
import { compareDecimal, formatDecimal } from '../values/decimal.ts'

/** Every action a rule may result in. */
export function listPossibleActions({ when, action, otherwise }: Rule): Action[] {
  return when === undefined ? [action] : [action, otherwise]
}

export function strongest(words: readonly Action[]): Action {
  return words.reduce(pickStronger, 'allow')
}

export function weakest(words: readonly Action[]): Action {
  return words.reduce((one, other) => (isStronger(one, other) ? other : one), 'hide')
}

export function isAtLeast(word: Action, other: Action): boolean {
  return !isStronger(other, word)
}

/** Allows everything it matches, and counts nothing: removing it loosens nothing. */
export function isFree(rule: Rule): boolean {
  return strongest(listPossibleActions(rule)) === 'allow' && rule.limits.length === 0
}

/** Never allows anything. */
export function isShut(rule: Rule): boolean {
  return isAtLeast(weakest(listPossibleActions(rule)), 'deny')
}

/** Describes what the new rule under the same key loosens. */
export function ruleLoosens(old: Rule, now: Rule): string[] {
  const loosenings: string[] = []
  const lifted = [...now.over].filter((category) => !old.over.has(category))
  if (lifted.length > 0) loosenings.push(`\`over\` also lifts ${lifted.join(', ')}`)
  if (!isShut(now)) loosenings.push(...limitsLoosen(old.limits, now.limits))
  if (asks(old) && asks(now) && !isSame(old.approval, now.approval))
    loosenings.push('who approves, or how, has changed')
  if (!wordsTighten(old, now))
    loosenings.push(`${describeActions(old)} becomes ${describeActions(now)}`)
  return loosenings
}

/** The rule as it decides where the test, a part of its condition, is false; undefined if it has no such test. */
export function withoutTest(rule: Rule, test: string): Rule | undefined {
  const { when, ...rest } = rule
  const has = when !== undefined && listTests(when.expression).some(({ text }) => text === test)
  return has ? { ...rest, action: rule.otherwise } : undefined
}

/**
 * Whether a rule decides at least as strictly as several that apply together; `fallback` is what decides without any.
 * Sound and incomplete.
 */
export function isAtLeastAsStrict(now: Rule, rules: readonly Rule[], fallback: Action): boolean {
  if (rules.length === 0) return isAtLeast(weakest(listPossibleActions(now)), fallback)
  return rules.every((rule) => ruleLoosens(rule, now).length === 0)
}

function wordsTighten(old: Rule, now: Rule): boolean {
  if (isAtLeast(weakest(listPossibleActions(now)), strongest(listPossibleActions(old)))) return true
  if (!isAtLeast(now.action, old.action) || !isAtLeast(now.otherwise, old.otherwise)) return false
  if (now.extraArgs && !old.extraArgs) return false
  const [before, after] = [old.when?.expression, now.when?.expression]
  if (before?.text === after?.text) return true
  // Fewer calls get `action`, and the others get something at least as strong.
  if (before === undefined || after === undefined) return false
  return isAtLeast(now.otherwise, now.action) && implies(after, before)
}

function asks(rule: Rule | Guardrail): boolean {
  return 'key' in rule
    ? listPossibleActions(rule).includes('require_approval')
    : rule.action === 'require_approval'
}

function describeActions(rule: Rule): string {
  const { when, action, otherwise } = rule
  if (when === undefined) return `\`${action}\``
  return `\`${action}\` when \`${when.expression.text}\`, otherwise \`${otherwise}\``
}

/**
 * A counter is identified by its id: another window or key is another counter, which starts empty.
 */
function limitsLoosen(old: readonly Limit[], now: readonly Limit[]): string[] {
  return old.flatMap((limit) => {
    const same = now.find(({ id }) => id === limit.id)
    if (same === undefined) return [`the limit of ${limit.text} is gone or counts otherwise`]
    const read = same.maxOf?.read.text
    // Which of two answers is the larger is not known.
    const isSameRead = read === limit.maxOf?.read.text
    if (isSameRead && compareDecimal(same.max, limit.max) <= 0) return []
    return [`the limit of ${limit.text} becomes ${read ?? formatDecimal(same.max)}`]
  })
}

/** Describes what the new guardrail of the same name loosens. */
export function guardrailLoosens(old: Guardrail, now: Guardrail): string[] {
  const loosenings: string[] = []
  if (!matchesMore(old, now)) loosenings.push('it matches other calls')
  const word = now.action ?? 'allow'
  if (!isAtLeast(word, old.action ?? 'allow'))
    loosenings.push(
      `\`${old.action}\` becomes ${now.action === undefined ? 'nothing' : `\`${word}\``}`,
    )
  if (!isAtLeast(word, 'deny')) loosenings.push(...limitsLoosen(old.limits, now.limits))
  if (asks(old) && asks(now) && !isSame(old.approval, now.approval))
    loosenings.push('who approves, or how, has changed')
  if (!appliesMoreOften(old, now)) loosenings.push('its condition has changed')
  return loosenings
}

/**
 * An undecidable condition counts as matched, so the new one must be undecidable whenever the old
 * one is.
 */
function appliesMoreOften(old: Guardrail, now: Guardrail): boolean {
  const [before, after] = [old.when?.expression, now.when?.expression]
  if (after === undefined) return true
  if (before === undefined || (now.extraArgs && !old.extraArgs)) return false
  return before.text === after.text || impliesInPlace(before, after)
}

function matchesMore({ match: old }: Guardrail, { match: now }: Guardrail): boolean {
  const keysOf = (part: (typeof now)['tools' | 'servers']) =>
    part?.map((one) => (typeof one === 'string' ? one : one.key))
  return (['categories', 'tools', 'servers', 'methods'] as const).every((part) => {
    const [before, after] = [keysOf(old[part]), keysOf(now[part])]
    return after === undefined || (before?.every((key) => after.includes(key)) ?? false)
  })
}

/** Plain values only. */
export function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

/**
 * Whether `other` is true whenever `one` is: it has all tests of `other`, or stricter ones, and
 * maybe more.
 */
function implies(one: Expression, other: Expression): boolean {
  const tests = listTests(one)
  return listTests(other).every((wanted) => tests.some((test) => isTighter(test, wanted)))
}

/** Whether `implies` holds and both read exactly the same, so that they are decidable for the same calls. */
function impliesInPlace(one: Expression, other: Expression): boolean {
  const [tests, wanted] = [listTests(one), listTests(other)]
  return (
    tests.length === wanted.length &&
    tests.every((test, at) => isTighter(test, wanted[at] as ConditionTest)) &&
    listReads(one) === listReads(other)
  )
}

/** A part of an expression, with the text it belongs to. */
interface ConditionTest {
  readonly node: CelNode
  readonly text: string
}

function listTests({ ast, text }: Expression): ConditionTest[] {
  const split = (node: CelNode): CelNode[] =>
    node.op === '&&' ? (node.args as readonly CelNode[]).flatMap(split) : [node]
  return split(ast).map((node) => ({ node, text: text.slice(node.start, node.end) }))
}

function isTighter(test: ConditionTest, wanted: ConditionTest): boolean {
  return test.text === wanted.text || isTighterBound(test, wanted)
}

/** `x <= 3` for `x <= 5`. */
function isTighterBound(test: ConditionTest, wanted: ConditionTest): boolean {
  const [one, other] = [findBound(test.node), findBound(wanted.node)]
  if (one === undefined || other === undefined || one.op !== other.op) return false
  // An integer and a decimal are compared with values of different types.
  if (typeof one.bound !== typeof other.bound) return false
  if (getSource(test, one.of) !== getSource(wanted, other.of)) return false
  return one.op.startsWith('<') ? one.bound <= other.bound : one.bound >= other.bound
}

function getSource({ node, text }: ConditionTest, part: CelNode): string {
  return text.slice(part.start - node.start, part.end - node.start)
}

function findBound(
  node: CelNode,
): { readonly op: string; readonly of: CelNode; readonly bound: number | bigint } | undefined {
  if (!['<', '<=', '>', '>='].includes(node.op)) return undefined
  const [of, limit] = node.args as readonly [CelNode, CelNode]
  if (limit.op !== 'value') return undefined
  const bound: unknown = limit.args
  return typeof bound === 'number' || typeof bound === 'bigint'
    ? { op: node.op, of, bound }
    : undefined
}

/** What it reads, in order. */
function listReads({ variables }: Expression): string {
  return JSON.stringify(variables.map(({ root, path, presence }) => [root, path, presence]))
}
