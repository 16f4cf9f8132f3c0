// Which results a condition can have if some of what it reads is known and the rest is not: for
// proofs. Three-valued like CEL: `false && x` is false even if `x` fails. Anything that is not known
// counts as possible, so that a proof never misses a result; uses of one unknown are independent.

import type { CelNode } from '../expression/cel.ts'
import type { ConditionResult } from '../expression/evaluate/evaluate.ts'
import type { Expression } from '../expression/expression.ts'

/** A set of results, as bits. */
export type ResultSet = number
export const CAN_BE_TRUE = 1
export const CAN_BE_FALSE = 2
export const CAN_FAIL = 4
const ANY_RESULT = 7
const EACH = [CAN_BE_TRUE, CAN_BE_FALSE, CAN_FAIL] as const

/** What is known of a part of a condition; undefined: nothing. */
export type KnownPart = (node: CelNode, expression: Expression) => ResultSet | undefined

/** The results that the condition can have. */
export function listPossibleResults(expression: Expression, known: KnownPart): ResultSet {
  return possible(expression.ast, expression, known)
}

function possible(node: CelNode, expression: Expression, known: KnownPart): ResultSet {
  const of = (part: CelNode) => possible(part, expression, known)
  switch (node.op) {
    case '!_':
      return negate(of(node.args))
    case '&&':
      return pairUp(of(node.args[0]), of(node.args[1]), CAN_BE_FALSE, CAN_BE_TRUE)
    case '||':
      return pairUp(of(node.args[0]), of(node.args[1]), CAN_BE_TRUE, CAN_BE_FALSE)
    case '?:':
      return choose(of(node.args[0]), of(node.args[1]), of(node.args[2]))
    case 'value':
      if (typeof node.args === 'boolean') return node.args ? CAN_BE_TRUE : CAN_BE_FALSE
      return CAN_FAIL
    default:
      return known(node, expression) ?? ANY_RESULT
  }
}

function negate(results: ResultSet): ResultSet {
  return (
    (results & CAN_FAIL) |
    (results & CAN_BE_TRUE ? CAN_BE_FALSE : 0) |
    (results & CAN_BE_FALSE ? CAN_BE_TRUE : 0)
  )
}

/** `&&` and `||`: `strong` on one side decides, `weak` needs both. */
function pairUp(left: ResultSet, right: ResultSet, strong: number, weak: number): ResultSet {
  let results = 0
  for (const one of EACH)
    for (const other of EACH)
      if (left & one && right & other) {
        if (one === strong || other === strong) results |= strong
        else results |= one === weak && other === weak ? weak : CAN_FAIL
      }
  return results
}

function choose(test: ResultSet, yes: ResultSet, no: ResultSet): ResultSet {
  return (
    (test & CAN_BE_TRUE ? yes : 0) |
    (test & CAN_BE_FALSE ? no : 0) |
    (test & CAN_FAIL ? CAN_FAIL : 0)
  )
}

const TRUE: ConditionResult = { is: 'true' }
const FALSE: ConditionResult = { is: 'false' }
const UNDECIDABLE: ConditionResult = { is: 'undecidable', why: 'of what the call holds' }

/**
 * The results that lead to different actions. If both true and false are possible, undecidable adds
 * nothing: a rule then takes the stronger of the two, a guardrail applies as if it were true.
 */
export function toConditionResults(results: ResultSet): ConditionResult[] {
  const listed: ConditionResult[] = []
  if (results & CAN_BE_TRUE) listed.push(TRUE)
  if (results & CAN_BE_FALSE) listed.push(FALSE)
  return results & CAN_FAIL && listed.length < 2 ? [...listed, UNDECIDABLE] : listed
}

/** The label that a part of a condition reads, if it reads one. */
export function getLabelRead(node: CelNode, { variableByNode }: Expression): string | undefined {
  const variable = variableByNode.get(node)?.variable
  if (variable?.root !== 'session' || variable.path[0] !== 'saw') return undefined
  return variable.path[1]
}
