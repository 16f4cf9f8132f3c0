// Reads `last("server/tool", "name", value, …).field`: a field of the last answer to a call that had exactly
// the named arguments. Pairs and no map literal, because `: ` ends a plain line of YAML.

import type { AnswerField } from '../calls/answer-values.ts'
import { pathText } from '../language/argument-path.ts'
import { type CelNode, getRoot } from './cel.ts'
import { ExpressionError, inspectPath, isNamePath, staticPrefix } from './expression-names.ts'

/** What an argument of the earlier call must equal: an argument of this call, by its path, or a literal. */
export type AnswerMatch =
  | { readonly path: readonly string[] }
  | { readonly literal: string | number | boolean }

export interface LastRead extends AnswerField {
  /** In the order of `by`. */
  readonly match: readonly AnswerMatch[]
}

export function isLast(node: CelNode): node is CelNode & { op: 'call' } {
  return node.op === 'call' && node.args[0] === 'last'
}

/** Throws ExpressionError. `end`: where the part that becomes a variable ends in the text. */
export function readLast(
  node: CelNode,
  base: CelNode & { op: 'call' },
): { readonly read: LastRead; readonly toolAt: number; readonly end: number } {
  const [tool, ...pairs] = base.args[1]
  const name = tool?.op === 'value' ? tool.args : undefined
  if (tool === undefined || typeof name !== 'string' || !/^[^/*?]+\/[^*?]+$/.test(name))
    throw new ExpressionError(
      base.start,
      '`last` takes one tool here, written out',
      'write `last("<server>/<tool>", "id", args.id).field`',
    )
  const fields = staticPrefix(node, base)
  const end = fields.at(-1)?.node.end
  if (end === undefined) throw noField(base)
  const field = fields.map((part) => part.name)
  const sorted = readPairs(pairs, base.start)
  const by = sorted.map(([argument]) => argument)
  const match = sorted.map(([, value]) => value)
  const said = sorted.flatMap(([argument, value]) => [JSON.stringify(argument), matchText(value)])
  const steps = field.map((step) =>
    /^[A-Za-z_]\w*$/.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`,
  )
  const text = `last(${[JSON.stringify(name), ...said].join(', ')})${steps.join('')}`
  return { read: { tool: name, by, field, match, text }, toolAt: tool.start, end }
}

export function noField({ start }: CelNode): ExpressionError {
  return new ExpressionError(
    start,
    '`last` is read as a whole',
    'read one field of the answer: `last("shop/get_order", "id", args.id).total`',
  )
}

/** Names of arguments of the earlier call, sorted, each with what it must equal. `start`: of `last`. */
function readPairs(parts: readonly CelNode[], start: number): [name: string, match: AnswerMatch][] {
  const pairs: [string, AnswerMatch][] = []
  for (let at = 0; at < parts.length; at += 2) {
    const [key, value] = [parts[at] as CelNode, parts[at + 1]]
    if (key.op !== 'value' || typeof key.args !== 'string') throw noPair(start)
    if (value === undefined || pairs.some(([name]) => name === key.args)) throw noPair(start)
    pairs.push([key.args, readMatch(value, start)])
  }
  return pairs.sort(([a], [b]) => (a < b ? -1 : 1))
}

function readMatch(value: CelNode, start: number): AnswerMatch {
  if (value.op === 'value') {
    const literal = typeof value.args === 'bigint' ? Number(value.args) : value.args
    if (typeof literal === 'string' || typeof literal === 'number' || typeof literal === 'boolean')
      return { literal }
    throw noPair(start)
  }
  const root = getRoot(value)
  if (root.op !== 'id' || root.args !== 'args' || !isNamePath(value)) throw noPair(start)
  return { path: inspectPath(value, new Set(), false).path }
}

function matchText(match: AnswerMatch): string {
  return 'path' in match ? pathText(match.path) : JSON.stringify(match.literal)
}

function noPair(at: number): ExpressionError {
  return new ExpressionError(
    at,
    '`last` takes names of arguments here, each with its value',
    'write `"id", args.id`: the name of an argument of the earlier call, then `args.x` or a literal',
  )
}
