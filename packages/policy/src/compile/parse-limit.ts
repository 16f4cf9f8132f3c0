// Limits of a rule: rate and spend, alone or in a list. The counter's id is built from everything
// that distinguishes two limits, and from nothing that may change without making it another
// counter.

import { PRICE } from '../calls/counters.ts'
import { asMap } from '../document/check-shape.ts'
import { didYouMean } from '../document/nearest.ts'
import type { Problems } from '../document/problem.ts'
import {
  findEntry,
  getSourceOffset,
  type LocatedMap,
  type LocatedNode,
  type LocatedScalar,
} from '../document/read-document.ts'
import { parseDuration } from '../document/shape.ts'
import { parseExpression } from '../expression/expression.ts'
import { ExpressionError } from '../expression/expression-names.ts'
import { pathText } from '../language/argument-path.ts'
import type { Amount, CounterScope, Limit } from '../model/rule.ts'
import { partText } from '../model/rule.ts'
import { type Decimal, formatDecimal, ONE, parseDecimal } from '../values/decimal.ts'

const PARTS = ['session', 'principal', 'agent', 'server', 'tool', 'everyone'] as const
const ARGUMENT = /^args(?:\.[A-Za-z_]\w*|\["[^"\\]{1,100}"\])+$/

export function parseLimits(map: LocatedMap, ruleId: string, problems: Problems): Limit[] {
  const limits: Limit[] = []
  const seen = new Set<string>()
  for (const kind of ['rate', 'spend'] as const) {
    for (const node of each(findEntry(map, `${kind}_limit`))) {
      const limit = parseLimit(asMap(node), kind, ruleId, problems)
      if (limit === undefined) continue
      if (seen.has(limit.id))
        problems.error(
          'POLICY_DOUBLED_LIMIT',
          node.at,
          `a limit before this one has the same counter (\`${limit.text.replace(/^\S+ /, '')}\`)`,
          'keep the smaller: `window`, `per` and `amount` tell counters apart, `max` does not',
        )
      seen.add(limit.id)
      limits.push(limit)
    }
  }
  return limits
}

function parseLimit(
  map: LocatedMap,
  kind: 'rate' | 'spend',
  ruleId: string,
  problems: Problems,
): Limit | undefined {
  const window = findEntry(map, 'window') as LocatedScalar
  const windowMs = (parseDuration(window.value) ?? 0) * 1_000
  const maxNode = findEntry(map, 'max') as LocatedScalar
  const isRead = typeof maxNode.value === 'string'
  const max = parseDecimal(maxNode.text) ?? ONE
  const reads: ArgumentReads = []
  const maxOf = isRead ? parseMaxOf(maxNode, reads, problems) : undefined
  if (isRead && maxOf === undefined) return undefined
  const per = parsePer(findEntry(map, 'per'), reads, problems)
  const amountNode = findEntry(map, 'amount') as LocatedScalar | undefined
  const amount = amountNode === undefined ? undefined : parseAmount(amountNode, reads, problems)
  if (per === undefined || (kind === 'spend' && amount === undefined)) return undefined
  const perText = per.map(partText).join(', ')
  const of = amount === undefined ? '' : ` of ${amountText(amount)}`
  return {
    kind,
    max,
    ...(maxOf === undefined ? {} : { maxOf }),
    windowMs,
    per,
    ...(amount === undefined ? {} : { amount }),
    reads,
    id: `${ruleId}|${amount !== undefined && isConstant(amount) ? PRICE : kind}|${windowMs}|${perText}${of}`,
    keys: new Map(),
    text: `${maxOf?.read.text ?? formatDecimal(max)}${of} in ${window.text}${/^\d+$/.test(window.text) ? 's' : ''} per ${perText}`,
  }
}

/** A field of an earlier answer, and nothing else. */
function parseMaxOf(
  node: LocatedScalar,
  reads: ArgumentReads,
  problems: Problems,
): Limit['maxOf'] | undefined {
  const text = String(node.value).trim()
  try {
    const { variables, edits } = parseExpression(text, new Set())
    const read = variables.find(({ last }) => last !== undefined)?.last
    const [edit, ...others] = edits
    const isAlone = others.length === 0 && edit?.start === 0 && edit.end === text.length
    if (read !== undefined && isAlone) {
      for (const one of read.match)
        if ('path' in one) reads.push({ path: one.path, at: node.contentAt })
      return { read, at: node.contentAt }
    }
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error
    problems.error(error.code, node.contentAt + error.at, error.message, error.help)
    return undefined
  }
  problems.error(
    'POLICY_AMOUNT',
    node.at,
    `\`${text}\` is not a maximum`,
    'write a number, or one field of an earlier answer: `last("shop/get_order", "id", args.id).total`',
  )
  return undefined
}

type ArgumentReads = { path: readonly string[]; at: number }[]

function parsePer(
  node: LocatedNode | undefined,
  reads: ArgumentReads,
  problems: Problems,
): CounterScope[] | undefined {
  if (node === undefined) return [{ by: 'session' }]
  const parts: CounterScope[] = []
  const seen = new Set<string>()
  for (const item of each(node)) {
    const part = parsePart(item as LocatedScalar, reads, problems)
    if (part === undefined) return undefined
    const word = partText(part)
    if (seen.has(word))
      problems.error(
        'POLICY_NO_EFFECT',
        item.at,
        `\`${word}\` appears twice in \`per\``,
        'keep one',
      )
    seen.add(word)
    parts.push(part)
  }
  const everyone = each(node).find((item) => (item as LocatedScalar).value === 'everyone')
  if (parts.length > 1 && everyone !== undefined)
    problems.error(
      'POLICY_NO_EFFECT',
      everyone.at,
      '`everyone` is one counter for all, and anything else in `per` splits it',
      'keep one of them',
    )
  // The order in which they are written does not change the counter.
  return parts.sort((a, b) => (partText(a) < partText(b) ? -1 : 1))
}

function parsePart(
  node: LocatedScalar,
  reads: ArgumentReads,
  problems: Problems,
): CounterScope | undefined {
  const word = String(node.value)
  const known = PARTS.find((candidate) => candidate === word)
  if (known !== undefined) return { by: known }
  if (ARGUMENT.test(word)) {
    const path = argumentPath(word)
    reads.push({ path, at: node.contentAt })
    return { by: 'args', path }
  }
  const parts = PARTS.map((one) => `\`${one}\``).join(', ')
  problems.error(
    'DOCUMENT_UNKNOWN_WORD',
    node.at,
    `\`per\` cannot be \`${word}\``,
    didYouMean(word, PARTS, `one of ${parts}, or an argument such as \`args.x\``),
  )
  return undefined
}

function parseAmount(
  node: LocatedScalar,
  reads: ArgumentReads,
  problems: Problems,
): Amount | undefined {
  const text = typeof node.value === 'number' ? node.text : String(node.value)
  const factors: (readonly string[] | Decimal)[] = []
  for (const { 0: written, index } of text.matchAll(/[^*]+/g)) {
    const factor = parseFactor(written.trim())
    if (factor === undefined) return noAmount(node, problems)
    if (!('units' in factor))
      reads.push({ path: factor, at: getSourceOffset(node, index + written.search(/\S/)) })
    factors.push(factor)
  }
  const stars = text.split('*').length - 1
  const isProduct = factors.length === 2 && factors.some(Array.isArray)
  const fits = stars === factors.length - 1 && (factors.length === 1 || isProduct)
  return fits ? { factors } : noAmount(node, problems)
}

/** A number alone: the price of each call. */
function isConstant({ factors }: Amount): boolean {
  return factors.every((factor) => 'units' in factor)
}

function noAmount(node: LocatedScalar, problems: Problems): undefined {
  problems.error(
    'POLICY_AMOUNT',
    node.at,
    `\`${node.value}\` is not an amount`,
    'write a price above zero, an argument, or an argument times an argument or a number above zero: `args.amount`, `args.cents * 0.01`',
  )
}

function parseFactor(text: string): readonly string[] | Decimal | undefined {
  if (ARGUMENT.test(text)) return argumentPath(text)
  const decimal = parseDecimal(text)
  return decimal !== undefined && decimal.units > 0n ? decimal : undefined
}

function argumentPath(text: string): string[] {
  return [...text.matchAll(/\.([A-Za-z_]\w*)|\["([^"]*)"\]/g)].map(
    (match) => match[1] ?? (match[2] as string),
  )
}

function each(node: LocatedNode | undefined): readonly LocatedNode[] {
  if (node === undefined) return []
  return node.kind === 'list' ? node.items : [node]
}

function amountText(amount: Amount): string {
  return amount.factors
    .map((factor) => ('units' in factor ? formatDecimal(factor) : pathText(factor)))
    .join(' * ')
}
