// Syntax errors: the parser's findings in terms of the source text, with a suggestion if one is
// known.

import { EXPRESSION_DEPTH_MAX, EXPRESSION_NODES_MAX } from '../language/limits.ts'
import { ExpressionError } from './expression-names.ts'

/** Describes the parser's finding in terms of the source text. */
export function syntaxError(
  text: string,
  { message, start }: { message: string; start: number },
): ExpressionError {
  const fail = (what: string, help: string, at = start) =>
    new ExpressionError('POLICY_EXPRESSION', at, what, help)
  if (/^exceeded max/.test(message))
    return new ExpressionError(
      'POLICY_EXPRESSION_UNSAFE',
      start,
      `it has more than ${EXPRESSION_NODES_MAX} parts, or nests deeper than ${EXPRESSION_DEPTH_MAX} levels`,
      'split it over several guardrails',
    )
  if (/^unterminated/.test(message))
    return fail('a text begins here and never ends', 'close it with the quote it began with')
  const macro = /^(\w+)\(var, /.exec(message)?.[1]
  if (macro !== undefined)
    return fail(
      `\`${macro}\` takes a name and an expression`,
      `write \`args.list.${macro}(x, …)\``,
      text.lastIndexOf(macro, start),
    )
  if (text.slice(start).trim() === '')
    return fail('it ends too early', 'write out what is to follow, and close what is open')
  if (!/^(unexpected|expected)/.test(message)) return fail(message, 'write it as CEL has it')
  const written = /^(\w+|[^\w\s])/.exec(text.slice(start))?.[0] ?? ''
  return fail(
    `\`${written}\` is not allowed here`,
    INSTEAD[written] ?? 'look at what comes before it, and for a missing operator or bracket',
  )
}

/** Operators of other languages. */
const INSTEAD: Record<string, string> = {
  and: 'write `&&`',
  or: 'write `||`',
  not: 'write `!`',
  '=': 'write `==`',
  '&': 'write `&&`',
  '|': 'write `||`',
  '?': 'test `has(args.x)` first',
}
