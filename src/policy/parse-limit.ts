// Limits of a rule: rate and spend, alone or in a list. The counter's id is made here, of all that
// tells two limits apart, and of nothing that may change without meaning another counter.

import { type Decimal, formatDecimal, ONE, parseDecimal } from '../core/decimal.ts'
import { asMap } from './check-shape.ts'
import { didYouMean } from './nearest.ts'
import type { Problems } from './problem.ts'
import { entry, type Located, type LocatedMap, type LocatedScalar } from './read-document.ts'
import type { Amount, Limit, Per } from './rule.ts'
import { parseDuration } from './shape.ts'

const PARTS = ['session', 'principal', 'agent', 'server', 'tool', 'everyone'] as const
const ARGUMENT = /^args(?:\.[A-Za-z_]\w*|\["[^"\\]{1,100}"\])+$/

export function parseLimits(map: LocatedMap, ruleId: string, problems: Problems): Limit[] {
  const limits: Limit[] = []
  const seen = new Map<string, LocatedMap>()
  for (const kind of ['rate', 'spend'] as const) {
    for (const node of each(entry(map, `${kind}_limit`))) {
      const limit = parseLimit(asMap(node), kind, ruleId, problems)
      if (limit === undefined) continue
      if (seen.has(limit.id))
        problems.error('POLICY_DOUBLED_LIMIT', node.at, `two limits share the counter \`${limit.text.replace(/^\S+ /, '')}\``, 'keep the smaller: windows and `per` tell counters apart, `max` does not')
      seen.set(limit.id, asMap(node))
      limits.push(limit)
    }
  }
  return limits
}

function parseLimit(map: LocatedMap, kind: 'rate' | 'spend', ruleId: string, problems: Problems): Limit | undefined {
  const window = entry(map, 'window') as LocatedScalar
  const windowMs = (parseDuration(window.value) ?? 0) * 1_000
  const max = parseDecimal((entry(map, 'max') as LocatedScalar).text) ?? ONE
  const per = parsePer(entry(map, 'per'), problems)
  const amountNode = entry(map, 'amount') as LocatedScalar | undefined
  const amount = amountNode === undefined ? undefined : parseAmount(amountNode, problems)
  if (per === undefined || (kind === 'spend' && amount === undefined)) return undefined
  const perText = per.map(partText).join(', ')
  const of = amount === undefined ? '' : ` of ${amountText(amount)}`
  return {
    kind,
    max,
    windowMs,
    per,
    ...(amount === undefined ? {} : { amount }),
    id: `${ruleId}|${kind}|${windowMs}|${perText}${of}`,
    text: `${formatDecimal(max)}${of} in ${window.text}${/^\d+$/.test(window.text) ? 's' : ''} per ${perText}`,
  }
}

function parsePer(node: Located | undefined, problems: Problems): Per[] | undefined {
  if (node === undefined) return [{ by: 'session' }]
  const parts: Per[] = []
  const seen = new Set<string>()
  for (const part of each(node)) {
    const word = String((part as LocatedScalar).value)
    if (seen.has(word)) problems.error('POLICY_NO_EFFECT', part.at, `\`${word}\` stands twice in \`per\``, 'keep one')
    seen.add(word)
    const known = PARTS.find((candidate) => candidate === word)
    if (known !== undefined) parts.push({ by: known })
    else if (ARGUMENT.test(word)) parts.push({ by: 'args', path: argumentPath(word) })
    else {
      problems.error('POLICY_UNKNOWN_WORD', part.at, `\`per\` cannot be \`${word}\``, didYouMean(word, [...PARTS], `one of ${PARTS.map((one) => `\`${one}\``).join(', ')}, or \`args.x\``))
      return undefined
    }
  }
  if (parts.length > 1 && seen.has('everyone'))
    problems.error('POLICY_NO_EFFECT', node.at, '`everyone` together with something that splits', 'keep one of them')
  // The order in which they are written makes no other counter.
  return parts.sort((a, b) => (partText(a) < partText(b) ? -1 : 1))
}

function parseAmount(node: LocatedScalar, problems: Problems): Amount | undefined {
  const factors = String(node.value).split('*').map((factor) => parseFactor(factor.trim()))
  if (factors.length <= 2 && factors.every((factor) => factor !== undefined) && factors.some(Array.isArray))
    return { factors: factors as Amount['factors'] }
  problems.error('POLICY_AMOUNT', node.at, `\`${node.value}\` is no amount`, 'an argument, or an argument times an argument or a number: `args.amount`, `args.cents * 0.01`')
  return undefined
}

function parseFactor(text: string): readonly string[] | Decimal | undefined {
  if (ARGUMENT.test(text)) return argumentPath(text)
  const decimal = parseDecimal(text)
  return decimal !== undefined && decimal.units > 0n ? decimal : undefined
}

function argumentPath(text: string): string[] {
  return [...text.matchAll(/\.([A-Za-z_]\w*)|\["([^"]*)"\]/g)].map((match) => match[1] ?? (match[2] as string))
}

function each(node: Located | undefined): readonly Located[] {
  if (node === undefined) return []
  return node.kind === 'list' ? node.items : [node]
}

function partText(part: Per): string {
  return part.by === 'args' ? pathText(part.path) : part.by
}

export function pathText(path: readonly string[]): string {
  return `args${path.map((name) => (/^[A-Za-z_]\w*$/.test(name) ? `.${name}` : `["${name}"]`)).join('')}`
}

function amountText(amount: Amount): string {
  return amount.factors.map((factor) => ('units' in factor ? formatDecimal(factor) : pathText(factor))).join(' * ')
}
