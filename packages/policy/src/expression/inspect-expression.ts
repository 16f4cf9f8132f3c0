// Walks a parsed expression, checks it against what the language allows and finds everything it
// reads. Attacks covered: native regular expressions, nested macros, unknown names, source texts
// that would be rewritten wrongly.

import { didYouMean } from '../document/nearest.ts'
import { parseDuration } from '../document/shape.ts'
import {
  FUNCTION_WEIGHTS,
  MATCH_STEP_WEIGHT,
  MATCH_WEIGHT,
  MATCH_WIDE_MAX,
} from '../language/limits.ts'
import { type CelNode, getRoot, listChildren } from './cel.ts'
import { FUNCTIONS, MACROS, METHODS } from './cel-functions.ts'
import { checkPattern } from './check-pattern.ts'
import { ExpressionError, inspectPath, isNamePath, refuseLiteral } from './expression-names.ts'
import type {
  Budget,
  ExpressionEdit,
  ExpressionVariable,
  NamedTool,
} from './expression-variables.ts'
import { containsMacro, type Macro, macroCost } from './macro-cost.ts'
import { PAST_FUNCTIONS } from './past-functions.ts'
import { patternSteps } from './pattern-steps.ts'
import { isLast, noField, readLast } from './read-last.ts'
import { refuseConstants, refuseEmptyList } from './refuse-constants.ts'

const COUNTED = /\{(\d+)(?:,(\d*))?\}/g

/** Any character, a class, or a choice in brackets; `\.` is one character. */
const WIDE = /\\[wWdDsSpP]|(?<!\\)[.[]|\([^()|]*\|[^()]*\)/g

interface MacroScope {
  /** Weight of a character for the enclosing functions, multiplied. */
  readonly weight: number
  readonly macro:
    | {
        readonly variable: string
        readonly lists: readonly ExpressionVariable[]
        readonly runs: Macro
      }
    | undefined
}

export class Inspector {
  readonly variables = new Map<string, ExpressionVariable>()
  readonly edits: ExpressionEdit[] = []
  readonly variableByNode = new Map<CelNode, { variable: ExpressionVariable; element: boolean }>()
  readonly macros: Macro[] = []
  readonly namedTools: NamedTool[] = []
  readonly #text: string
  readonly #labels: ReadonlySet<string>
  readonly #budget: Budget

  constructor(text: string, labels: ReadonlySet<string>, budget: Budget) {
    this.#text = text
    this.#labels = labels
    this.#budget = budget
  }

  visit(node: CelNode, scope: MacroScope): void {
    switch (node.op) {
      case 'value':
        return refuseLiteral(node)
      case 'id':
      case '.':
      case '[]':
        return this.#access(node, scope)
      case 'call':
        return this.#call(node, scope)
      case 'rcall':
        return this.#method(node, scope)
      case '.?':
      case '[?]':
        throw new ExpressionError(
          node.start,
          'optional access is not part of the language',
          'test with `has(...)` first',
        )
      default:
        refuseConstants(node)
        for (const part of listChildren(node)) this.visit(part, scope)
    }
  }

  #access(node: CelNode, scope: MacroScope): void {
    const base = getRoot(node)
    if (base.op === 'id' && base.args === scope.macro?.variable) {
      const { lists, runs } = scope.macro
      for (const list of lists) {
        list.uses.push({ weight: Math.max(1, scope.weight), repeatedBy: undefined })
        if (runs.whole) this.variableByNode.set(base, { variable: list, element: true })
      }
      return this.#indexes(node, scope)
    }
    if (isLast(base)) {
      this.#last(node, base, scope)
      return this.#indexes(node, scope)
    }
    if (base.op !== 'id') {
      this.visit(base, scope)
      return this.#indexes(node, scope)
    }
    this.#toVariable(node, scope, false)
    this.#indexes(node, scope)
  }

  /** Computed indexes along the chain read values too. */
  #indexes(node: CelNode, scope: MacroScope): void {
    for (let at = node; at.op === '.' || at.op === '[]'; at = at.args[0])
      if (at.op === '[]' && at.args[1].op !== 'value') this.visit(at.args[1], scope)
  }

  #toVariable(node: CelNode, scope: MacroScope, presence: boolean): ExpressionVariable {
    const { root, path, end } = inspectPath(node, this.#labels, presence)
    const source = this.#text.slice(node.start, end)
    if (!PLAIN_ACCESS.test(source))
      throw new ExpressionError(
        node.start,
        `\`${source}\` is not written plainly`,
        'write `args.name`, or `args["name"]`, without brackets or comments around its parts',
      )
    const variable = this.#variableOf({ root, path, presence, at: node.start })
    if (!presence)
      variable.uses.push({ weight: Math.max(1, scope.weight), repeatedBy: scope.macro?.runs })
    for (let at = node; ; at = (at as CelNode & { op: '.' }).args[0]) {
      if (at.end === end) this.variableByNode.set(at, { variable, element: false })
      if (at.op !== '.' && at.op !== '[]') break
    }
    if (!presence) this.edits.push({ start: node.start, end, text: variable.name })
    return variable
  }

  /** The variable for what is read; the same for the same. */
  #variableOf(read: Omit<ExpressionVariable, 'name' | 'uses'>): ExpressionVariable {
    const id = JSON.stringify([read.presence, read.root, read.last?.text, ...read.path])
    const variable = this.variables.get(id) ?? {
      ...read,
      name: `s${this.variables.size}`,
      uses: [],
    }
    this.variables.set(id, variable)
    return variable
  }

  #call(node: CelNode & { op: 'call' }, scope: MacroScope): void {
    const [name, args] = node.args
    if (name === 'has') return this.#has(node, scope)
    if (PAST_FUNCTIONS.has(name)) return this.#past(node)
    if (name === 'last') throw noField(node)
    const known = FUNCTIONS.get(name)
    if (known === undefined)
      throw this.#unknown(
        node.start,
        name,
        FUNCTIONS,
        METHODS.has(name) || MACROS.has(name)
          ? `write it after a value: \`x.${name}(…)\``
          : undefined,
      )
    this.#arity(node.start, name, known.arity, args.length)
    this.edits.push({ start: node.start, end: node.start + name.length, text: known.runs })
    const weight = scope.weight + (FUNCTION_WEIGHTS[name] ?? 1)
    for (const argument of args) this.visit(argument, { ...scope, weight })
  }

  /** Reads the session's past: a variable of its own, since its arguments are literals. */
  #past(node: CelNode & { op: 'call' }): void {
    const [name, args] = node.args
    const takes = PAST_FUNCTIONS.get(name)?.takes ?? []
    this.#arity(node.start, name, takes.length, args.length)
    const path = args.map((argument, index) => {
      const text = argument.op === 'value' ? argument.args : undefined
      const isTime = takes[index] === 'time'
      const isFit = isTime
        ? parseDuration(text) !== undefined && typeof text === 'string'
        : typeof text === 'string' && /^[^/]+\/./.test(text)
      if (isFit && !isTime) this.namedTools.push({ value: text as string, at: argument.start })
      if (isFit) return text as string
      throw new ExpressionError(
        argument.start,
        `\`${name}\` takes ${isTime ? 'a time' : 'a tool'} here, written out`,
        isTime ? 'write `"5m"`' : 'write `"<server>/<tool>"`, or a glob',
      )
    })
    const variable = this.#variableOf({
      root: 'past',
      path: [name, ...path],
      presence: false,
      at: node.start,
    })
    this.variableByNode.set(node, { variable, element: false })
    this.edits.push({ start: node.start, end: node.end, text: variable.name })
  }

  /** Reads a field of an earlier answer: a variable of its own. */
  #last(node: CelNode, base: CelNode & { op: 'call' }, scope: MacroScope): void {
    const { read, toolAt, end } = readLast(node, base)
    this.namedTools.push({ value: read.tool, at: toolAt })
    const path = [read.tool, ...read.field]
    const at = node.start
    const variable = this.#variableOf({ root: 'last', path, last: read, presence: false, at })
    variable.uses.push({ weight: Math.max(1, scope.weight), repeatedBy: scope.macro?.runs })
    for (let place = node; place !== base; place = (place as CelNode & { op: '.' }).args[0])
      if (place.end === end) this.variableByNode.set(place, { variable, element: false })
    this.edits.push({ start: base.start, end, text: variable.name })
    // The arguments of this call that it is found by: checked as any other, and without a use, since the
    // condition does not read them.
    for (const one of read.match)
      if ('path' in one) this.#variableOf({ root: 'args', path: one.path, presence: false, at })
  }

  #has(node: CelNode & { op: 'call' }, scope: MacroScope): void {
    const [argument] = node.args[1]
    const refused = new ExpressionError(
      node.start,
      '`has` takes one name',
      'write `has(args.x)`, or `has(args["x-y"])`',
    )
    if (argument === undefined || node.args[1].length !== 1) throw refused
    const base = getRoot(argument)
    if (argument.op === '.' && base.op === 'id' && base.args === scope.macro?.variable)
      return this.#access(argument, scope)
    // Every step must be a name: of `args.list[0].x` only `args.list` would be tested.
    if (!isNamePath(argument)) throw refused
    const variable = this.#toVariable(argument, scope, true)
    this.edits.push({ start: node.start, end: node.end, text: variable.name })
    this.variableByNode.set(node, { variable, element: false })
  }

  #method(node: CelNode & { op: 'rcall' }, scope: MacroScope): void {
    const [name, receiver, args] = node.args
    if (MACROS.has(name)) return this.#macro(node, scope)
    const known = METHODS.get(name)
    const start = this.#nameOf(node)
    if (known === undefined)
      throw this.#unknown(
        start,
        name,
        METHODS,
        FUNCTIONS.has(name) ? `write it around a value: \`${name}(x)\`` : undefined,
      )
    this.#arity(start, name, known.arity, args.length)
    this.edits.push({ start, end: start + name.length, text: known.runs })
    if (name === 'matches') checkPattern(args[0], this.#text, this.#budget)
    const own =
      name === 'matches' ? matchWeight(String(args[0]?.args)) : (FUNCTION_WEIGHTS[name] ?? 1)
    this.visit(receiver, { ...scope, weight: scope.weight + own })
    for (const argument of args) this.visit(argument, scope)
  }

  /** Offset of the name of a method; throws if anything but brackets precedes it. */
  #nameOf(node: CelNode & { op: 'rcall' }): number {
    const [name, receiver, args] = node.args
    const between = this.#text.slice(receiver.end, args[0]?.start ?? node.end)
    const written = new RegExp(`^[\\s)]*\\.\\s*${name}\\s*\\(`).exec(between)
    if (written !== null) return receiver.end + written[0].lastIndexOf(name)
    throw new ExpressionError(
      node.start,
      `\`${name}\` is not written plainly`,
      'write `x.name(…)`, without comments between its parts',
    )
  }

  #macro(node: CelNode & { op: 'rcall' }, scope: MacroScope): void {
    const [name, range, args] = node.args
    if (scope.macro !== undefined || containsMacro(range))
      throw new ExpressionError(
        this.#nameOf(node),
        `\`${name}\` is inside or on top of another macro`,
        'macros do not nest: their cost would be a product of lists',
        'POLICY_EXPRESSION_UNSAFE',
      )
    const [variable, ...bodies] = args
    if (variable?.op !== 'id' || bodies.length === 0)
      throw new ExpressionError(
        node.start,
        `\`${name}\` takes a name and an expression`,
        `write \`args.list.${name}(x, …)\``,
      )
    refuseEmptyList(range)
    this.visit(range, scope)
    const whole = this.variableByNode.get(range)?.variable
    const lists = whole === undefined ? this.#listVariables(range) : [whole]
    const runs = macroCost(this.#nameOf(node), name, {
      range,
      bodies,
      kind: {
        lists: lists.map((list) => list.name),
        whole: whole !== undefined,
      },
    })
    this.macros.push(runs)
    for (const body of bodies)
      this.visit(body, { weight: scope.weight, macro: { variable: variable.args, lists, runs } })
  }

  #listVariables(node: CelNode): ExpressionVariable[] {
    const variable = this.variableByNode.get(node)?.variable
    const below = listChildren(node).flatMap((child) => this.#listVariables(child))
    return [...new Set(variable === undefined ? below : [variable, ...below])]
  }

  #arity(at: number, name: string, wanted: number, got: number): void {
    if (wanted === got) return
    throw new ExpressionError(
      at,
      `\`${name}\` takes ${wanted} argument${wanted === 1 ? '' : 's'}, not ${got}`,
      'see docs/reference/policy-language.md',
    )
  }

  #unknown(
    at: number,
    name: string,
    known: ReadonlyMap<string, unknown>,
    help?: string,
  ): ExpressionError {
    return new ExpressionError(
      at,
      `there is no \`${name}\` here`,
      help ?? didYouMean(name, [...known.keys()]),
    )
  }
}

const PLAIN_ACCESS = /^[A-Za-z_]\w*(\s*\.\s*[A-Za-z_]\w*|\s*\[\s*("[^"\\\n]*"|'[^'\\\n]*')\s*\])*$/

/**
 * The weight of a character that a pattern reads. RE2 matches most patterns with a table, in tens
 * of nanoseconds a character. A pattern with many wide positions (`.{40}`, `[ab]{14}`) has too many
 * states for a table, and then every step is tried on every character: 333 ms were measured on
 * 8,192 adversarial characters.
 */
function matchWeight(pattern: string): number {
  const counts = [...pattern.matchAll(COUNTED)].map(([, least, most]) => Number(most || least))
  const wide = pattern.match(WIDE)?.length ?? 0
  const places = counts.reduce((sum, count) => sum + count, wide)
  if (places <= MATCH_WIDE_MAX) return MATCH_WEIGHT
  return Math.max(MATCH_WEIGHT, MATCH_STEP_WEIGHT * patternSteps(pattern))
}
