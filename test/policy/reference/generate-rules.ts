// Draws rules and their limits as the page allows them: `hide` never beside a `when` that reads
// arguments, limits only where a branch lets the call go on, no two limits on one counter.

import type { Action } from '@sluice/policy/calls/actions'
import { ACTIONS } from '@sluice/policy/calls/actions'
import type { KnownTool } from '@sluice/policy/calls/tools'
import type { RefLimit, RefRule } from './document.ts'
import type { Ast } from './expression.ts'
import { readsArgs } from './expression.ts'
import { declaredArguments } from './generate-calls.ts'
import { generateWhen } from './generate-expression.ts'
import { readWindowMs } from './limits.ts'
import type { Random } from './random.ts'
import { between, chance, pick, shuffled, some, weighted } from './random.ts'

export const LABELS = ['private', 'untrusted', 'red', 'blue']
const WORDS: Record<Action, number> = { allow: 62, require_approval: 20, deny: 8, hide: 10 }

export interface RuleScope {
  args: string[]
  /** The rule can meet calls without a tool only. */
  hasTool: boolean
  /** The word beside it hides: neither arguments nor the class of the call may be read. */
  hides?: boolean
  canSpend: boolean
}

export const NO_TOOL: RuleScope = { args: [], hasTool: false, canSpend: false }

/** Arguments that all of the tools declare, or at times (and for want of these) one of them. */
export function scopeOf(random: Random, tools: KnownTool[]): RuleScope {
  const any = [...new Set(tools.flatMap(declaredArguments))]
  const all = any.filter((name) => tools.every((tool) => declaredArguments(tool).includes(name)))
  const args = all.length === 0 || chance(random, 0.3) ? any : all
  return { args, hasTool: true, canSpend: args.includes('price') || args.includes('n') }
}

export function generateRule(random: Random, scope: RuleScope): Action | RefRule {
  const action = weighted(random, WORDS)
  if (chance(random, 0.2)) return action
  const rule: RefRule = { action }
  if (chance(random, 0.55)) addWhen(random, rule, scope)
  const branches = rule.when ? [action, rule.otherwise ?? 'deny'] : [action]
  if (branches.includes('allow') || branches.includes('require_approval')) {
    addLimits(random, rule, scope)
  }
  if (branches.includes('require_approval') && chance(random, 0.3)) {
    rule.approval = pick(random, [{ timeout: '5m' }, { approvers: ['finance'] }, { wait: '10s' }])
  }
  const isShown = branches.includes('deny') || branches.includes('require_approval')
  if (isShown && chance(random, 0.3)) rule.reason = 'because of the rule'
  addMode(random, rule)
  return rule
}

function addWhen(random: Random, rule: RefRule, scope: RuleScope): void {
  const others = ACTIONS.filter((word) => word !== rule.action)
  const otherwise = weightedWord(random, others)
  const hides = rule.action === 'hide' || otherwise === 'hide'
  rule.when = whenFor(random, hides ? { ...scope, args: [], hides } : scope)
  if (otherwise !== 'deny' || chance(random, 0.5)) rule.otherwise = otherwise
  if (readsArgs(rule.when) && chance(random, 0.3)) rule.extra_args = 'allow'
}

export function whenFor(random: Random, scope: RuleScope): Ast {
  const { args, hasTool, hides = false } = scope
  return generateWhen(random, { args, labels: LABELS, hasTool, hides })
}

function weightedWord(random: Random, words: Action[]): Action {
  const weights = Object.fromEntries(words.map((word) => [word, WORDS[word]]))
  return weighted(random, weights as Record<Action, number>)
}

export function addMode(random: Random, rule: { mode?: 'enforce' | 'shadow' }): void {
  if (chance(random, 0.1)) rule.mode = 'shadow'
  else if (chance(random, 0.05)) rule.mode = 'enforce'
}

// Limits.

type Limited = { rate_limit?: RefLimit | RefLimit[]; spend_limit?: RefLimit | RefLimit[] }

export function addLimits(
  random: Random,
  rule: Limited,
  scope: RuleScope,
  probability = 0.4,
): void {
  if (chance(random, probability + 0.1))
    rule.rate_limit = limitsOf(random, () => generateRate(random, scope))
  if (scope.canSpend && chance(random, probability - 0.1)) {
    rule.spend_limit = limitsOf(random, () => generateSpend(random, scope))
  }
}

function limitsOf(random: Random, generate: () => RefLimit): RefLimit | RefLimit[] {
  const first = generate()
  if (chance(random, 0.6)) return first
  const second = generate()
  return counterOf(first) === counterOf(second) ? [first] : [first, second]
}

function counterOf({ window, per, amount }: RefLimit): string {
  return `${readWindowMs(window)} ${[per ?? 'session'].flat().sort().join(' ')} ${amount}`
}

export function generateRate(random: Random, scope: RuleScope): RefLimit {
  return { max: between(random, 1, 8), ...windowAndPer(random, scope) }
}

function generateSpend(random: Random, scope: RuleScope): RefLimit {
  const has = (name: string) => scope.args.includes(name)
  const amounts = [
    ...(has('price') ? ['args.price', 'args.price', 'args.price * 0.01'] : []),
    ...(has('n') ? ['args.n', 'args.n * 0.1'] : []),
    ...(has('n') && has('price') ? ['args.n * args.price', 'args.n * args.price'] : []),
    ...(has('o') ? ['args.o.y'] : []),
  ]
  const max = chance(random, 0.5) ? between(random, 1, 40) : between(random, 1, 400) / 10
  return { amount: pick(random, amounts), max, ...windowAndPer(random, scope) }
}

function windowAndPer(random: Random, scope: RuleScope): Pick<RefLimit, 'window' | 'per'> {
  const window = pick<number | string>(random, [
    5,
    10,
    20,
    60,
    '10s',
    '30s',
    '1m',
    '2m',
    '1h',
    '1d',
  ])
  const plain = ['session', 'principal', 'agent', 'server', 'tool']
  const args = scope.args.filter((name) => ['n', 's', 'b', 'price', 'd'].includes(name))
  const argument = args.length > 0 ? [`args.${pick(random, args)}`] : []
  switch (weighted(random, { none: 3, one: 5, everyone: 2, listed: 2 })) {
    case 'none':
      return { window }
    case 'everyone':
      return { window, per: 'everyone' }
    case 'one':
      return { window, per: pick(random, [...plain, ...argument]) }
    case 'listed': {
      const listed = some(random, shuffled(random, [...plain, ...argument]), 0.4)
      return { window, per: listed.length > 0 ? listed : ['session'] }
    }
  }
}
