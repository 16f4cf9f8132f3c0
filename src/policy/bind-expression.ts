// An expression for one tool: its slots typed by what the tool declares, whole-number literals
// beside doubles written as doubles, checked and ready to run. A rule under a glob is bound once
// for each tool it meets.

import { checkCel, type CelProgram, type Node } from './cel.ts'
import { ANYTHING, celType, type Declared, declaredAt, isInteger, NUMBER } from './declared-types.ts'
import type { PolicyErrorCode } from './errors.ts'
import type { Edit, Expression, Slot } from './expression.ts'
import { namedType } from './expression-names.ts'
import { nearest } from './nearest.ts'

export interface BoundSlot extends Slot {
  /** For arguments: what may stand there. */
  readonly declared: Declared
}

export interface Program {
  readonly expression: Expression
  readonly slots: readonly BoundSlot[]
  readonly run: CelProgram
  /** The declared names; arguments beside them make it undecidable. Undefined: any may stand. */
  readonly closedTo: ReadonlyMap<string, Declared> | undefined
}

export interface BindProblem {
  readonly code: PolicyErrorCode
  /** Offset into the expression. */
  readonly at: number
  readonly message: string
  readonly help: string
}

/** A program, a problem, or both: an argument that nobody declares is a mistake to report, but the
 * expression still has a meaning (the argument is not there). */
export interface Bound {
  readonly program?: Program
  readonly problem?: BindProblem
}

export function bindExpression(
  expression: Expression,
  declared: Declared,
  options: { readonly extraArgs: boolean },
): Bound {
  const open = declared.open || options.extraArgs
  const slots: BoundSlot[] = []
  let missing: { problem: BindProblem } | undefined
  for (const slot of expression.slots) {
    const place = slot.root === 'args' ? declaredAt(declared, slot.path) : ANYTHING
    if (place === undefined && !open) missing ??= { problem: undeclared(slot, declared) }
    slots.push({ ...slot, declared: place ?? ANYTHING })
  }
  const kinds = new NumberKinds(expression, new Map(slots.map((slot) => [slot.name, slot])))
  kinds.visit(expression.ast)
  const edits = [...expression.edits, ...kinds.edits].sort((a, b) => a.start - b.start)
  const { text, backTo } = applyEdits(expression.text, edits)
  const variables = slots.map((slot) => ({ name: slot.name, type: slotType(slot) }))
  const checked = checkCel(text, variables)
  if (!checked.ok)
    return { problem: typeProblem(backTo(checked.start), named(checked.message, slots)) }
  if (checked.type !== 'bool' && checked.type !== 'dyn')
    return { problem: typeProblem(0, `the expression is a ${checked.type}, not true or false`) }
  const closedTo = expression.readsArgs && !open ? declared.properties : undefined
  return { program: { expression, slots, run: checked.run, closedTo }, ...missing }
}

function slotType(slot: BoundSlot): string {
  if (slot.presence) return 'bool'
  return slot.root === 'args' ? celType(slot.declared) : namedType(slot.root, slot.path)
}

function undeclared(slot: Slot, declared: Declared): BindProblem {
  const name = slot.path.join('.')
  const known = [...(declared.properties?.keys() ?? [])]
  const near = nearest(slot.path[0] as string, known)
  const help = near
    ? `did you mean \`args.${near}\`?`
    : known.length > 0
      ? `declared are ${known.map((one) => `\`${one}\``).join(', ')}`
      : 'the tool declares no arguments'
  const message = `the tool declares no argument \`${name}\``
  return { code: 'POLICY_UNKNOWN_ARGUMENT', at: slot.at, message, help }
}

function typeProblem(at: number, message: string): BindProblem {
  const help = message.includes('int') && message.includes('double')
    ? 'an integer and a decimal do not mix: write `double(args.x)`'
    : 'compare like with like, as the tool declares it'
  return { code: 'POLICY_EXPRESSION_TYPE', at, message, help }
}

/** The checker speaks of slots; a person wrote names. */
function named(message: string, slots: readonly BoundSlot[]): string {
  return message.replace(/\bs(\d+)\b/g, (whole, index) => {
    const slot = slots[Number(index)]
    return slot === undefined ? whole : [slot.root, ...slot.path].join('.')
  })
}

type NumberKind = 'int' | 'double' | 'literal' | 'other'

/** Finds the whole-number literals that stand beside doubles. */
class NumberKinds {
  readonly edits: Edit[] = []
  readonly #expression: Expression
  readonly #slots: ReadonlyMap<string, BoundSlot>

  constructor(expression: Expression, slots: ReadonlyMap<string, BoundSlot>) {
    this.#expression = expression
    this.#slots = slots
  }

  visit(node: Node): NumberKind {
    const read = this.#expression.slotOf.get(node)
    if (read !== undefined) return this.#read(read.slot.name, read.element)
    switch (node.op) {
      case 'value':
        if (typeof node.args === 'bigint') return 'literal'
        return typeof node.args === 'number' ? 'double' : 'other'
      case '-_':
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
      case 'call':
        for (const argument of node.args[1]) this.visit(argument)
        return RETURNS[node.args[0]] ?? 'other'
      case 'rcall':
        this.visit(node.args[1])
        for (const argument of node.args[2]) this.visit(argument)
        return node.args[0] === 'size' || node.args[0].startsWith('get') ? 'int' : 'other'
      case '.':
      case '[]': {
        // Below a slot nothing is declared: every number there is a double.
        const base = this.visit(node.args[0])
        if (node.op === '[]') this.visit(node.args[1])
        return base === 'int' ? 'int' : 'double'
      }
      case 'id':
        return 'other'
      case '!_':
        return this.visit(node.args)
      case 'map':
        for (const [, value] of node.args) this.visit(value)
        return 'other'
      default:
        for (const part of node.args as readonly Node[]) this.visit(part)
        return 'other'
    }
  }

  #read(name: string, element: boolean): NumberKind {
    const slot = this.#slots.get(name) as BoundSlot
    if (slot.presence) return 'other'
    if (slot.root !== 'args') {
      const type = namedType(slot.root, slot.path)
      return type === 'int' ? 'int' : type === 'dyn' ? 'double' : 'other'
    }
    const declared = element ? (slot.declared.items ?? ANYTHING) : slot.declared
    if (isInteger(declared)) return 'int'
    if ((declared.kinds & NUMBER) !== 0) return 'double'
    // A list of integers, indexed, gives integers.
    return declared.items !== undefined && isInteger(declared.items) ? 'int' : 'other'
  }

  #beside(left: Node, right: Node): NumberKind {
    const a = this.visit(left)
    const b = this.visit(right)
    if (a === 'double' && b === 'literal') this.#toDouble(right)
    if (b === 'double' && a === 'literal') this.#toDouble(left)
    if (a === 'double' || b === 'double') return 'double'
    if (a === 'literal') return b
    return b === 'literal' ? a : a === b ? a : 'other'
  }

  #membership(left: Node, right: Node): void {
    const kind = this.visit(left)
    if (right.op !== 'list') {
      this.visit(right)
      return
    }
    for (const item of right.args) if (this.visit(item) === 'literal' && kind === 'double') this.#toDouble(item)
  }

  #toDouble(node: Node): void {
    if (node.op === 'value') {
      if (typeof node.args === 'bigint') this.edits.push({ start: node.start, end: node.end, text: `${node.args}.0` })
    } else if (node.op === '-_') this.#toDouble(node.args)
    else if (node.op === '?:') for (const part of node.args.slice(1)) this.#toDouble(part)
    else for (const part of node.args as readonly Node[]) this.#toDouble(part)
  }
}

const RETURNS: Record<string, NumberKind> = { size: 'int', int: 'int', double: 'double' }

/** The text with the edits in it, and the way back from its offsets. */
function applyEdits(text: string, edits: readonly Edit[]): { text: string; backTo: (at: number) => number } {
  let result = ''
  let done = 0
  const shifts: { from: number; by: number }[] = []
  for (const edit of edits) {
    if (edit.start < done) continue
    result += text.slice(done, edit.start)
    shifts.push({ from: result.length, by: edit.start - result.length })
    result += edit.text
    done = edit.end
    shifts.push({ from: result.length, by: done - result.length })
  }
  const backTo = (at: number) => at + (shifts.findLast((shift) => shift.from <= at)?.by ?? 0)
  return { text: result + text.slice(done), backTo }
}
