// Integer literals next to doubles: in CEL an int and a double do not mix, and a user who writes
// `args.price < 5` means 5.0. Which numbers are doubles follows from the tool's schema.

import { type CelNode, listChildren } from '../cel.ts'
import type { Expression } from '../expression.ts'
import { findVariableType } from '../expression-names.ts'
import type { ExpressionEdit } from '../expression-variables.ts'
import type { BoundVariable } from './bound-variable.ts'
import { ANYTHING, celType, isInteger, NUMBER } from './declared-types.ts'

/** `literal`: an integer literal, which becomes a double beside one. `other`: no number, or one that is not known. */
type NumberKind = 'int' | 'double' | 'literal' | 'other'

/** Finds the integer literals next to doubles. */
export class NumberKinds {
  readonly edits: ExpressionEdit[] = []
  readonly #expression: Expression
  readonly #variables: ReadonlyMap<string, BoundVariable>

  constructor(expression: Expression, variables: ReadonlyMap<string, BoundVariable>) {
    this.#expression = expression
    this.#variables = variables
  }

  /** The kind of what the expression gives. */
  visit(node: CelNode): NumberKind {
    const read = this.#expression.variableByNode.get(node)
    if (read !== undefined) return this.#read(read.variable.name, read.element)
    switch (node.op) {
      case '-_':
      case '!_':
        return this.visit(node.args)
      case '+':
      case '-':
      case '*':
      case '/':
      case '%':
        return this.#beside(node.args[0], node.args[1])
      case '==':
      case '!=':
      case '<':
      case '<=':
      case '>':
      case '>=':
        this.#beside(node.args[0], node.args[1])
        return 'other'
      case 'in':
        this.#membership(node.args[0], node.args[1])
        return 'other'
      case '?:':
        this.visit(node.args[0])
        return this.#beside(node.args[1], node.args[2])
      default:
        return this.#visitOperand(node)
    }
  }

  /** What operators stand between: a literal, a call, a member of something. */
  #visitOperand(node: CelNode): NumberKind {
    if (node.op === 'value') {
      if (typeof node.args === 'bigint') return 'literal'
      return typeof node.args === 'number' ? 'double' : 'other'
    }
    if (node.op === '.' || node.op === '[]') {
      // Below a variable nothing is declared: every number there is a double.
      const base = this.visit(node.args[0])
      if (node.op === '[]') this.visit(node.args[1])
      return base === 'int' ? 'int' : 'double'
    }
    this.#visitChildren(node)
    if (node.op === 'call') return RETURNS[node.args[0]] ?? 'other'
    if (node.op !== 'rcall') return 'other'
    return node.args[0] === 'size' || node.args[0].startsWith('get') ? 'int' : 'other'
  }

  #visitChildren(node: CelNode): void {
    for (const child of listChildren(node)) this.visit(child)
  }

  #read(name: string, element: boolean): NumberKind {
    const variable = this.#variables.get(name) as BoundVariable
    if (variable.presence) return 'other'
    if (variable.root !== 'args') {
      const type = findVariableType(variable.root, variable.path)
      return type === 'int' ? 'int' : type === 'dyn' ? 'double' : 'other'
    }
    const declared = element ? (variable.declared.items ?? ANYTHING) : variable.declared
    if (isInteger(declared)) return 'int'
    if ((declared.kinds & NUMBER) !== 0) return 'double'
    // A list of integers, indexed, gives integers.
    return declared.items !== undefined && isInteger(declared.items) ? 'int' : 'other'
  }

  #beside(left: CelNode, right: CelNode): NumberKind {
    const a = this.visit(left)
    const b = this.visit(right)
    if (a === 'double' && b === 'literal') this.#toDouble(right)
    if (b === 'double' && a === 'literal') this.#toDouble(left)
    if (a === 'double' || b === 'double') return 'double'
    if (a === 'literal') return b
    return b === 'literal' ? a : a === b ? a : 'other'
  }

  #membership(left: CelNode, right: CelNode): void {
    const kind = this.visit(left)
    if (right.op !== 'list') {
      this.visit(right)
      if (kind === 'literal' && this.#holdsDoubles(right)) this.#toDouble(left)
      return
    }
    for (const item of right.args)
      if (this.visit(item) === 'literal' && kind === 'double') this.#toDouble(item)
  }

  /** A list whose numbers are declared, and not as integers. */
  #holdsDoubles(list: CelNode): boolean {
    const variable = this.#variables.get(
      this.#expression.variableByNode.get(list)?.variable.name ?? '',
    )
    return variable?.declared.items !== undefined && celType(variable.declared.items) === 'double'
  }

  #toDouble(node: CelNode): void {
    if (node.op === 'value') {
      // An integer that no double represents stays an int, which compares by value.
      if (typeof node.args === 'bigint' && BigInt(Number(node.args)) === node.args)
        this.edits.push({ start: node.start, end: node.end, text: `${node.args}.0` })
    } else if (node.op === '?:') for (const part of node.args.slice(1)) this.#toDouble(part)
    else for (const part of listChildren(node)) this.#toDouble(part)
  }
}

const RETURNS: Record<string, NumberKind> = { size: 'int', int: 'int', double: 'double' }
