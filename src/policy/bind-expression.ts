// An expression for one tool: its slots typed by what the tool declares, whole-number literals
// beside doubles written as doubles, checked and ready to run. A rule under a glob is bound once
// for each tool it meets.

import { nearest } from '../document/nearest.ts'
import {
  type CelCheck,
  type CelProgram,
  checkCel,
  childrenOf,
  FUNCTIONS,
  METHODS,
  type Node,
} from './cel.ts'
import {
  ANYTHING,
  celType,
  type Declared,
  declaredAt,
  isInteger,
  NUMBER,
} from './declared-types.ts'
import type { PolicyErrorCode } from './errors.ts'
import type { Edit, Expression, Slot } from './expression.ts'
import { namedType } from './expression-names.ts'
import { pathText } from './parse-limit.ts'

export interface BoundSlot extends Slot {
  /** For arguments: what may stand there. */
  readonly declared: Declared
  /** How many places outside macros walk the value, and the sum of their weights. */
  readonly walks: number
  readonly walksWeighted: number
  /** A macro repeats it, or is over it. */
  readonly inMacros: boolean
  /** `== null` is asked of it, which no type but `dyn` may be asked. */
  readonly besideNull: boolean
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
    if (place === undefined && !open)
      missing ??= { problem: undeclared(slot.path, slot.at, [declared]) }
    slots.push(boundSlot(slot, place ?? ANYTHING, expression))
  }
  const kinds = new NumberKinds(expression, new Map(slots.map((slot) => [slot.name, slot])))
  kinds.visit(expression.ast)
  const edits = [...expression.edits, ...kinds.edits].sort((a, b) => a.start - b.start)
  const { text, backTo } = applyEdits(expression.text, edits)
  const variables = slots.map((slot) => ({ name: slot.name, type: slotType(slot) }))
  const checked = checkOnce(expression, text, variables)
  if (!checked.ok) {
    const start = backTo(checked.start)
    const written = expression.text.slice(start, Math.max(backTo(checked.end), start + 1)).trim()
    const why = named(checked.message, slots)
    const message = why.endsWith(`\`${written}\``) ? why : `\`${written}\` does not fit: ${why}`
    return missing ?? { problem: typeProblem(start, message, slots) }
  }
  if (checked.type !== 'bool' && checked.type !== 'dyn')
    return (
      missing ?? {
        problem: typeProblem(0, `it comes to ${checked.type}, not to true or false`, slots),
      }
    )
  const closedTo = expression.readsArgs && !open ? declared.properties : undefined
  return { program: { expression, slots, run: checked.run, closedTo }, ...missing }
}

function boundSlot(slot: Slot, declared: Declared, expression: Expression): BoundSlot {
  const once = slot.uses.filter((use) => use.repeatedBy === undefined)
  return {
    ...slot,
    declared,
    walks: once.length,
    walksWeighted: once.reduce((sum, use) => sum + use.weight, 0),
    inMacros:
      once.length < slot.uses.length ||
      expression.macros.some((macro) => macro.lists.includes(slot.name)),
    besideNull: isBesideNull(expression.ast, slot, expression),
  }
}

function isBesideNull(node: Node, slot: Slot, expression: Expression): boolean {
  if (node.op === '==' || node.op === '!=') {
    const [left, right] = node.args
    const isNull = (side: Node) => side.op === 'value' && side.args === null
    const isSlot = (side: Node) => expression.slotOf.get(side)?.slot === slot
    if ((isNull(left) && isSlot(right)) || (isNull(right) && isSlot(left))) return true
  }
  return childrenOf(node).some((child) => isBesideNull(child, slot, expression))
}

const checks = new WeakMap<Expression, Map<string, CelCheck>>()

/** Most tools declare the same of what an expression reads: checked once for each such reading. */
function checkOnce(
  expression: Expression,
  text: string,
  variables: readonly { name: string; type: string }[],
): CelCheck {
  const known = checks.get(expression) ?? new Map<string, CelCheck>()
  checks.set(expression, known)
  const reading = `${variables.map(({ type }) => type).join()} ${text}`
  const checked = known.get(reading) ?? checkCel(text, variables)
  known.set(reading, checked)
  return checked
}

function slotType(slot: BoundSlot): string {
  if (slot.presence) return 'bool'
  if (slot.besideNull) return 'dyn'
  return slot.root === 'args' ? celType(slot.declared) : namedType(slot.root, slot.path)
}

/** An argument that none of these tools declares. */
export function undeclared(
  path: readonly string[],
  at: number,
  schemas: readonly Declared[],
): BindProblem {
  const who =
    schemas.length === 1
      ? 'the tool declares no'
      : `none of the ${schemas.length} tools it meets declares`
  const depth = path.findIndex((_, index) =>
    schemas.every((schema) => declaredAt(schema, path.slice(0, index + 1)) === undefined),
  )
  const above = path.slice(0, depth)
  const known = new Set(
    schemas.flatMap((schema) => [...(declaredAt(schema, above)?.properties?.keys() ?? [])]),
  )
  const message = `${who} \`${pathText(path)}\``
  return {
    code: 'POLICY_UNKNOWN_ARGUMENT',
    at,
    message,
    help: declaredHelp(path[depth] as string, above, [...known]),
  }
}

function declaredHelp(name: string, above: readonly string[], known: readonly string[]): string {
  const near = nearest(name, known)
  if (near !== undefined) return `did you mean \`${pathText([...above, near])}\`?`
  if (known.length === 0) return 'no arguments are declared there'
  return `declared are ${known.map((one) => `\`${pathText([...above, one])}\``).join(', ')}`
}

function typeProblem(at: number, message: string, slots: readonly BoundSlot[]): BindProblem {
  const read = slots.filter((slot) => slot.root === 'args' && !slot.presence)
  const types = read.map((slot) => `\`${pathText(slot.path)}\` is ${slotType(slot)}`).join(', ')
  const mixed = /\bint\b/.test(message) && /\bdouble\b/.test(message)
  const help = mixed
    ? 'int and double do not mix: write `double(…)` around the int'
    : 'give it the types it takes'
  return {
    code: 'POLICY_EXPRESSION_TYPE',
    at,
    message,
    help: types === '' ? help : `${help}; ${types}`,
  }
}

/** The checker speaks of slots, and of functions by the names they run under; a person wrote others. */
function named(message: string, slots: readonly BoundSlot[]): string {
  return message
    .replace(/^(no such overload: |found no matching overload for )'?(.*?)'?$/, 'there is no `$2`')
    .replace(/^no such key: (.*)$/, 'there is no `$1`')
    .replace(/\bs(\d+)\b/g, (whole, index) => {
      const slot = slots[Number(index)]
      return slot === undefined ? whole : [slot.root, ...slot.path].join('.')
    })
    .replace(/\bsluice[A-Z]\w*/g, (runs) => WRITTEN.get(runs) ?? runs)
}

const WRITTEN = new Map([...FUNCTIONS, ...METHODS].map(([name, { runs }]) => [runs, name]))

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
      if (kind === 'literal' && this.#holdsDoubles(right)) this.#toDouble(left)
      return
    }
    for (const item of right.args)
      if (this.visit(item) === 'literal' && kind === 'double') this.#toDouble(item)
  }

  /** A list whose numbers are declared, and not as integers. */
  #holdsDoubles(list: Node): boolean {
    const slot = this.#slots.get(this.#expression.slotOf.get(list)?.slot.name ?? '')
    return slot?.declared.items !== undefined && celType(slot.declared.items) === 'double'
  }

  #toDouble(node: Node): void {
    if (node.op === 'value') {
      // One that no double holds stays an int, which compares by value.
      if (typeof node.args === 'bigint' && BigInt(Number(node.args)) === node.args)
        this.edits.push({ start: node.start, end: node.end, text: `${node.args}.0` })
    } else if (node.op === '-_') this.#toDouble(node.args)
    else if (node.op === '?:') for (const part of node.args.slice(1)) this.#toDouble(part)
    else for (const part of node.args as readonly Node[]) this.#toDouble(part)
  }
}

const RETURNS: Record<string, NumberKind> = { size: 'int', int: 'int', double: 'double' }

/** The text with the edits in it, and the way back from its offsets. */
function applyEdits(
  text: string,
  edits: readonly Edit[],
): { text: string; backTo: (at: number) => number } {
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
