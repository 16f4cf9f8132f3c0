// A `when` as it is loaded: parsed, held to what the language allows, and rewritten so that
// everything it reads from outside is a numbered slot (`args.amount <= 5` becomes `s0 <= 5`).
// What an expression reads is thereby a list that can be typed, bounded and checked before it runs.
// Attacks answered here: native regular expressions, nested macros, names that nothing fills.

import { didYouMean } from '../document/nearest.ts'
import {
  celFailure,
  childrenOf,
  compilePattern,
  FUNCTIONS,
  MACROS,
  METHODS,
  type Node,
  parseCel,
  rootOf,
} from './cel.ts'
import {
  ExpressionError,
  inspectPath,
  isNamePath,
  type Root,
  refuseLiteral,
} from './expression-names.ts'
import { syntaxError } from './expression-syntax.ts'
import {
  DOCUMENT_PATTERN_STEPS_MAX,
  FUNCTION_WEIGHTS,
  PATTERN_LENGTH_MAX,
  PATTERN_STEPS_MAX,
} from './limits.ts'
import { containsMacro, type Macro, macroCost } from './macro-cost.ts'
import { matchWeight } from './match-weight.ts'
import { patternSteps } from './pattern-steps.ts'

export interface Slot {
  readonly name: string
  readonly root: Root
  /** Names below the root. */
  readonly path: readonly string[]
  /** `has(...)`: whether it is there. */
  readonly presence: boolean
  readonly at: number
  /** Each place that walks the value: how much a character counts, and the slot of the list
   * what repeats it, for a place inside a macro. */
  readonly uses: { readonly weight: number; readonly repeatedBy: Macro | undefined }[]
}

/** A stretch of the text and what stands there instead when it runs. */
export interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}

export interface Expression {
  readonly text: string
  readonly slots: readonly Slot[]
  readonly edits: readonly Edit[]
  readonly ast: Node
  /** Which slot a node of the tree reads; macro variables point at their list's slot. */
  readonly slotOf: ReadonlyMap<Node, { readonly slot: Slot; readonly element: boolean }>
  readonly readsArgs: boolean
  /** Cannot be known before the call: it reads arguments, or the class they give the call. */
  readonly dependsOnCall: boolean
  readonly macros: readonly Macro[]
}

/** What all expressions of a document may take together; each takes its part. */
export interface Budget {
  patternSteps: number
}

/** Throws ExpressionError with the offset into `text`. */
export function parseExpression(
  text: string,
  labels: ReadonlySet<string>,
  budget: Budget = { patternSteps: DOCUMENT_PATTERN_STEPS_MAX },
): Expression {
  let ast: Node
  try {
    ast = parseCel(text)
  } catch (error) {
    throw syntaxError(text, celFailure(error))
  }
  const inspector = new Inspector(text, labels, budget)
  inspector.visit(ast, { weight: 0, macro: undefined })
  const slots = [...inspector.slots.values()]
  return {
    text,
    ast,
    slots,
    edits: inspector.edits,
    slotOf: inspector.slotOf,
    readsArgs: slots.some((slot) => slot.root === 'args'),
    dependsOnCall: slots.some((slot) => slot.root === 'args' || slot.root === 'call'),
    macros: inspector.macros,
  }
}

interface Scope {
  /** How often a character counts for the functions around this place, all together. */
  readonly weight: number
  readonly macro:
    | { readonly variable: string; readonly lists: readonly Slot[]; readonly runs: Macro }
    | undefined
}

class Inspector {
  readonly slots = new Map<string, Slot>()
  readonly edits: Edit[] = []
  readonly slotOf = new Map<Node, { slot: Slot; element: boolean }>()
  readonly macros: Macro[] = []
  readonly #text: string
  readonly #labels: ReadonlySet<string>
  readonly #budget: Budget

  constructor(text: string, labels: ReadonlySet<string>, budget: Budget) {
    this.#text = text
    this.#labels = labels
    this.#budget = budget
  }

  visit(node: Node, scope: Scope): void {
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
      case 'list':
        for (const item of node.args) this.visit(item, scope)
        return
      case 'map':
        for (const [key, value] of node.args) {
          this.visit(key, scope)
          this.visit(value, scope)
        }
        return
      case '!_':
      case '-_':
        return this.visit(node.args, scope)
      case '?:':
        for (const part of node.args) this.visit(part, scope)
        return
      case '.?':
      case '[?]':
        throw new ExpressionError(
          'POLICY_EXPRESSION',
          node.start,
          'optional access is not part of the language',
          'ask with `has(...)` first',
        )
      default:
        for (const part of node.args as readonly Node[]) this.visit(part, scope)
    }
  }

  #access(node: Node, scope: Scope): void {
    const base = rootOf(node)
    if (base.op === 'id' && base.args === scope.macro?.variable) {
      const { lists, runs } = scope.macro
      for (const list of lists) {
        list.uses.push({ weight: Math.max(1, scope.weight), repeatedBy: undefined })
        if (runs.whole) this.slotOf.set(base, { slot: list, element: true })
      }
      return this.#indexes(node, scope)
    }
    if (base.op !== 'id') {
      this.visit(base, scope)
      return this.#indexes(node, scope)
    }
    this.#slot(node, scope, false)
    this.#indexes(node, scope)
  }

  /** Dynamic indexes on the way read things of their own. */
  #indexes(node: Node, scope: Scope): void {
    for (let at = node; at.op === '.' || at.op === '[]'; at = at.args[0])
      if (at.op === '[]' && at.args[1].op !== 'value') this.visit(at.args[1], scope)
  }

  #slot(node: Node, scope: Scope, presence: boolean): Slot {
    const { root, path, end } = inspectPath(node, this.#labels, presence)
    const source = this.#text.slice(node.start, end)
    if (!PLAIN_ACCESS.test(source))
      throw new ExpressionError(
        'POLICY_EXPRESSION',
        node.start,
        `\`${source}\` is not written plainly`,
        'write `args.name`, or `args["name"]`, without brackets or comments around its parts',
      )
    const id = JSON.stringify([presence, root, ...path])
    let slot = this.slots.get(id)
    if (slot === undefined) {
      slot = { name: `s${this.slots.size}`, root, path, presence, at: node.start, uses: [] }
      this.slots.set(id, slot)
    }
    if (!presence)
      slot.uses.push({ weight: Math.max(1, scope.weight), repeatedBy: scope.macro?.runs })
    for (let at = node; ; at = (at as Node & { op: '.' }).args[0]) {
      if (at.end === end) this.slotOf.set(at, { slot, element: false })
      if (at.op !== '.' && at.op !== '[]') break
    }
    if (!presence) this.edits.push({ start: node.start, end, text: slot.name })
    return slot
  }

  #call(node: Node & { op: 'call' }, scope: Scope): void {
    const [name, args] = node.args
    if (name === 'has') return this.#has(node, scope)
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

  #has(node: Node & { op: 'call' }, scope: Scope): void {
    const [argument] = node.args[1]
    const refused = new ExpressionError(
      'POLICY_EXPRESSION',
      node.start,
      '`has` takes one name',
      'write `has(args.x)`, or `has(args["x-y"])`',
    )
    if (argument === undefined || node.args[1].length !== 1) throw refused
    const base = rootOf(argument)
    if (argument.op === '.' && base.op === 'id' && base.args === scope.macro?.variable)
      return this.#access(argument, scope)
    // Every step by name: of `args.list[0].x` only `args.list` would be asked for.
    if (!isNamePath(argument)) throw refused
    const slot = this.#slot(argument, scope, true)
    this.edits.push({ start: node.start, end: node.end, text: slot.name })
    this.slotOf.set(node, { slot, element: false })
  }

  #method(node: Node & { op: 'rcall' }, scope: Scope): void {
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
    if (name === 'matches') this.#pattern(args[0])
    const own =
      name === 'matches' ? matchWeight(String(args[0]?.args)) : (FUNCTION_WEIGHTS[name] ?? 1)
    this.visit(receiver, { ...scope, weight: scope.weight + own })
    for (const argument of args) this.visit(argument, scope)
  }

  /** Where the name of a method stands; throws where something other than brackets comes before. */
  #nameOf(node: Node & { op: 'rcall' }): number {
    const [name, receiver, args] = node.args
    const between = this.#text.slice(receiver.end, args[0]?.start ?? node.end)
    const written = new RegExp(`^[\\s)]*\\.\\s*${name}\\s*\\(`).exec(between)
    if (written !== null) return receiver.end + written[0].lastIndexOf(name)
    throw new ExpressionError(
      'POLICY_EXPRESSION',
      node.start,
      `\`${name}\` is not written plainly`,
      'write `x.name(…)`, without comments between its parts',
    )
  }

  #pattern(node: Node | undefined): void {
    if (node?.op !== 'value' || typeof node.args !== 'string')
      throw new ExpressionError(
        'POLICY_EXPRESSION_UNSAFE',
        node?.start ?? 0,
        `\`${this.#text.slice(node?.start ?? 0, node?.end)}\` is not a literal pattern`,
        'write the pattern out: `x.matches("^[a-z]+$")`',
      )
    if (node.args.length > PATTERN_LENGTH_MAX)
      throw new ExpressionError(
        'POLICY_EXPRESSION_UNSAFE',
        node.start,
        `a pattern of ${node.args.length} characters`,
        `the limit is ${PATTERN_LENGTH_MAX}`,
      )
    this.#spend(node, patternSteps(node.args))
    try {
      compilePattern(node.args)
    } catch (error) {
      throw new ExpressionError(
        'POLICY_EXPRESSION_UNSAFE',
        node.start,
        `\`${node.args}\` is not a pattern of RE2: ${(error as Error).message.replace('error parsing regexp: ', '')}`,
        /\(\?[=!<]|\\\d/.test(node.args)
          ? 'look-around and back-references are not part of RE2'
          : 'mend the pattern',
      )
    }
  }

  #spend(node: Node & { op: 'value' }, steps: number): void {
    this.#budget.patternSteps -= steps
    const unsafe = (what: string, help: string) =>
      new ExpressionError('POLICY_EXPRESSION_UNSAFE', node.start, `\`${node.args}\` ${what}`, help)
    if (steps > PATTERN_STEPS_MAX)
      throw unsafe(
        `has ${steps} steps with its repetitions written out`,
        `the limit is ${PATTERN_STEPS_MAX}: write \`*\` or \`+\`, and ask \`size\` for the length`,
      )
    if (this.#budget.patternSteps < 0)
      throw unsafe(
        `is one pattern too many: together they have more than ${DOCUMENT_PATTERN_STEPS_MAX} steps`,
        'put the condition on a glob or a category',
      )
  }

  #macro(node: Node & { op: 'rcall' }, scope: Scope): void {
    const [name, range, args] = node.args
    if (scope.macro !== undefined || containsMacro(range))
      throw new ExpressionError(
        'POLICY_EXPRESSION_UNSAFE',
        this.#nameOf(node),
        `\`${name}\` stands inside or upon another macro`,
        'macros do not nest: their cost would be a product of lists',
      )
    const [variable, ...bodies] = args
    if (variable?.op !== 'id' || bodies.length === 0)
      throw new ExpressionError(
        'POLICY_EXPRESSION',
        node.start,
        `\`${name}\` takes a name and an expression`,
        `write \`args.list.${name}(x, …)\``,
      )
    this.visit(range, scope)
    const whole = this.slotOf.get(range)?.slot
    const lists = whole === undefined ? this.#slotsIn(range) : [whole]
    const runs = macroCost(this.#nameOf(node), name, range, bodies, {
      lists: lists.map((list) => list.name),
      whole: whole !== undefined,
    })
    this.macros.push(runs)
    for (const body of bodies)
      this.visit(body, { weight: scope.weight, macro: { variable: variable.args, lists, runs } })
  }

  #slotsIn(node: Node): Slot[] {
    const slot = this.slotOf.get(node)?.slot
    const below = childrenOf(node).flatMap((child) => this.#slotsIn(child))
    return [...new Set(slot === undefined ? below : [slot, ...below])]
  }

  #arity(at: number, name: string, wanted: number, got: number): void {
    if (wanted === got) return
    throw new ExpressionError(
      'POLICY_EXPRESSION',
      at,
      `\`${name}\` takes ${wanted} argument${wanted === 1 ? '' : 's'}, not ${got}`,
      'see docs/policy-language.md',
    )
  }

  #unknown(
    at: number,
    name: string,
    known: ReadonlyMap<string, unknown>,
    help?: string,
  ): ExpressionError {
    return new ExpressionError(
      'POLICY_EXPRESSION',
      at,
      `there is no \`${name}\` here`,
      help ?? didYouMean(name, [...known.keys()]),
    )
  }
}

const PLAIN_ACCESS = /^[A-Za-z_]\w*(\s*\.\s*[A-Za-z_]\w*|\s*\[\s*("[^"\\\n]*"|'[^'\\\n]*')\s*\])*$/
