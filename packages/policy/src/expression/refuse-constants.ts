// Constants for which CEL has an error and the library has a value: refused where the document is read, so that no
// condition is false that cannot be decided. Called by inspect-expression.ts for every node.

import { type CelNode, listChildren } from './cel.ts'
import { ExpressionError } from './expression-names.ts'

/** Throws an ExpressionError. */
export function refuseConstants(node: CelNode): void {
  if (node.op === '-_' && mayBeLowest(node.args)) throw overflow(node)
  if (node.op === '/' && isMinusOne(node.args[1]) && mayBeLowest(node.args[0])) throw overflow(node)
  if (node.op === 'map') refuseKeys(node)
}

/** Refuses a macro over an empty list, such as `[].exists(x, …)`. */
export function refuseEmptyList(node: CelNode): void {
  if (node.op !== 'list' || node.args.length > 0) return
  throw new ExpressionError(
    node.start,
    'the list is empty, so it decides nothing',
    'write the values between the brackets, or read a list: `args.list`',
  )
}

/** The negative of the lowest integer is none. Constants are not computed here: any but a plain number may be it. */
function mayBeLowest(node: CelNode): boolean {
  return node.op !== 'value' && !hasVariable(node)
}

function isMinusOne(node: CelNode): boolean {
  return node.op === '-_' && node.args.op === 'value' && Number(node.args.args) === 1
}

function hasVariable(node: CelNode): boolean {
  return node.op === 'id' || listChildren(node).some(hasVariable)
}

function overflow({ start }: CelNode): ExpressionError {
  return new ExpressionError(
    start,
    'the negative of a constant that may be the lowest integer is not in the language',
    'write the number itself',
  )
}

function refuseKeys(node: CelNode & { op: 'map' }): void {
  const seen = new Set<string>()
  for (const [key] of node.args) {
    if (key.op !== 'value') continue
    const value = key.args
    if (value === null)
      throw new ExpressionError(
        key.start,
        '`null` is no key of a map',
        'a key is a text, a number or a truth value',
      )
    // 1 and 1.0 are the same key.
    const id = `${typeof value === 'bigint' ? 'number' : typeof value} ${value}`
    if (seen.has(id))
      throw new ExpressionError(key.start, `the key \`${value}\` appears twice`, 'keep one')
    seen.add(id)
  }
}
