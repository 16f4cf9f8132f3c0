// Draws `when` expressions that a type checker knowing the declared types accepts: every argument
// name has one type in all tools that declare it (`d` is declared without one). The literals lie
// where the drawn arguments lie, so that true, false and undecidable all come up.

import type { Arithmetic, Ast, Comparison, FactName } from './expression.ts'
import type { Random } from './random.ts'
import { between, chance, pick, weighted } from './random.ts'

export interface Scope {
  /** Arguments some matching tool declares; empty where the expression may not read any. */
  args: readonly string[]
  labels: readonly string[]
  /** `tool.category` may be asked. */
  hasTool: boolean
  /** The word beside it hides: neither arguments nor the class of the call may be read. */
  hides?: boolean
}

const COMPARISONS: Comparison[] = ['==', '!=', '<', '<=', '>', '>=']
const CATEGORY_WORDS = ['Read', 'Write', 'Execute', 'Destructive', 'Financial']
const WORDS = ['', 'x', 'xy', 'yx', 'yyy']

export function generateWhen(random: Random, scope: Scope): Ast {
  return condition(random, scope, between(random, 0, 2))
}

function condition(random: Random, scope: Scope, depth: number): Ast {
  if (depth === 0) return atom(random, scope)
  const op = pick(random, ['&&', '||', '||', 'not'] as const)
  const left = condition(random, scope, depth - 1)
  if (op === 'not') return { op: 'not', of: left }
  return { op, left, right: condition(random, scope, between(random, 0, depth - 1)) }
}

function atom(random: Random, scope: Scope): Ast {
  if (scope.args.length > 0 && chance(random, 0.7)) {
    return argumentAtom(random, pick(random, scope.args), scope)
  }
  const origin = scope.hides === true || !scope.hasTool ? 0 : 3
  const kind = weighted(random, {
    saw: 4,
    group: 3,
    noAgent: 2,
    depth: 2,
    category: 3,
    calls: 3,
    past: 4,
    origin,
  })
  switch (kind) {
    case 'saw':
      return { op: 'saw', label: pick(random, scope.labels) }
    case 'group': {
      const group = literal(pick(random, ['ops', 'dev', 'nobody']))
      return { op: 'in', left: group, right: fact('principal.groups') }
    }
    case 'noAgent':
      return { op: 'noAgent' }
    case 'depth': {
      const deep: Ast = compare(random, fact('agent.depth'), literal(BigInt(between(random, 0, 3))))
      if (chance(random, 0.2)) return deep
      return { op: '&&', left: { op: 'not', of: { op: 'noAgent' } }, right: deep }
    }
    case 'category': {
      // What hides may not read the class of the call.
      const ofTool = scope.hides === true || (scope.hasTool && chance(random, 0.5))
      const name = ofTool ? 'tool.category' : 'call.category'
      const words = [pick(random, CATEGORY_WORDS), pick(random, CATEGORY_WORDS)].map(literal)
      if (chance(random, 0.3))
        return { op: 'in', left: fact(name), right: { op: 'list', items: words } }
      return { op: pick(random, ['==', '!=']), left: fact(name), right: words[0] as Ast }
    }
    case 'calls':
      return compare(random, fact('session.calls'), literal(BigInt(between(random, 0, 20))))
    case 'past':
      return past(random)
    case 'origin': {
      const words = ['user', 'field', 'prose', 'nowhere'].map(literal)
      const left: Ast = { op: 'origin', name: 'tags' }
      if (chance(random, 0.5))
        return { op: 'in', left, right: { op: 'list', items: words.slice(2) } }
      return { op: pick(random, ['==', '!=']), left, right: pick(random, words) }
    }
  }
}

const PAST_TOOLS = ['a/x', 'a/*', 'b/y*', '*/x?', 'ab/xy', '*/*y']

function past(random: Random): Ast {
  const tool = pick(random, PAST_TOOLS)
  const form = weighted(random, { called: 2, within: 2, after: 2 })
  if (form === 'called') return { op: 'called', tool }
  if (form === 'within') return { op: 'calledWithin', tool, seconds: between(random, 1, 20) }
  const counted: Ast = { op: 'callsAfter', tool, after: pick(random, PAST_TOOLS) }
  return compare(random, counted, literal(BigInt(between(random, 0, 3))))
}

function argumentAtom(random: Random, name: string, scope: Scope): Ast {
  const path = name === 'o' ? ['o', pick(random, ['y', 'z', 'w'])] : [name]
  const read: Ast = { op: 'args', path }
  const test = typedTest(random, path.join('.'), read, scope)
  const form = weighted(random, { bare: 6, guarded: 3, asked: 1, unless: 1 })
  const has: Ast = { op: 'has', path }
  if (form === 'asked') return has
  if (form === 'guarded') return { op: '&&', left: has, right: test }
  if (form === 'unless') return { op: '||', left: { op: 'not', of: has }, right: test }
  return test
}

function typedTest(random: Random, path: string, read: Ast, scope: Scope): Ast {
  switch (path) {
    case 'n':
    case 'o.y':
      return intTest(random, read, scope)
    case 'price':
      return doubleTest(random, read, scope)
    case 's':
    case 'o.z':
      return stringTest(random, read)
    case 'b':
      return chance(random, 0.7)
        ? read
        : { op: pick(random, ['==', '!=']), left: read, right: literal(chance(random, 0.5)) }
    case 'tags':
      return chance(random, 0.5)
        ? { op: 'in', left: literal(pick(random, WORDS)), right: read }
        : compare(random, { op: 'size', of: read }, literal(BigInt(between(random, 0, 3))))
    default: // `d` and `o.w`, declared without a type
      return pick(random, [doubleTest, stringTest])(random, read, { ...scope, args: [] })
  }
}

function intTest(random: Random, read: Ast, scope: Scope): Ast {
  const form = weighted(random, { literal: 6, sum: 3, square: 1, list: 2, mixed: 1 })
  const bound = literal(BigInt(between(random, -2, 10)))
  if (form === 'list') return { op: 'in', left: read, right: list([1n, 3n, 5n, 7n]) }
  if (form === 'square') return compare(random, { op: '*', left: read, right: read }, bound)
  if (form === 'sum') return compare(random, calculated(random, read, bound), bound)
  if (form === 'mixed' && scope.args.includes('price')) {
    return compare(random, read, { op: 'args', path: ['price'] })
  }
  return compare(random, read, bound)
}

function doubleTest(random: Random, read: Ast, scope: Scope): Ast {
  const form = weighted(random, { literal: 6, sum: 3, list: 1, mixed: 1 })
  const bound = chance(random, 0.5)
    ? literal(BigInt(between(random, -2, 10)))
    : literal(between(random, -8, 40) / 4)
  if (form === 'list') return { op: 'in', left: read, right: list([0.5, 1, 2.25, 5]) }
  if (form === 'sum') return compare(random, calculated(random, read, bound), bound)
  if (form === 'mixed' && scope.args.includes('s')) {
    return compare(random, read, { op: 'size', of: { op: 'args', path: ['s'] } })
  }
  return compare(random, read, bound)
}

function stringTest(random: Random, read: Ast): Ast {
  const word = pick(random, WORDS)
  switch (weighted(random, { compare: 3, prefix: 3, size: 3, list: 2 })) {
    case 'compare':
      return compare(random, read, literal(word))
    case 'prefix':
      return { op: 'startsWith', of: read, prefix: word }
    case 'size':
      return compare(random, { op: 'size', of: read }, literal(BigInt(between(random, 0, 3))))
    case 'list':
      return { op: 'in', left: read, right: list(['x', word]) }
  }
}

function calculated(random: Random, left: Ast, right: Ast): Ast {
  const op: Arithmetic = pick(random, ['+', '-', '*'])
  return chance(random, 0.7) ? { op, left, right } : { op, left: right, right: left }
}

function compare(random: Random, left: Ast, right: Ast): Ast {
  return { op: pick(random, COMPARISONS), left, right }
}

function literal(value: bigint | number | string | boolean): Ast {
  return { op: 'literal', value }
}

function list(values: (bigint | number | string)[]): Ast {
  return { op: 'list', items: values.map(literal) }
}

function fact(name: FactName): Ast {
  return { op: 'fact', name }
}
