// The pattern of `matches`: a literal that RE2 accepts, within the budget of a document's patterns.
// A pattern from an argument would be a program from an attacker.

import {
  DOCUMENT_PATTERN_STEPS_MAX,
  PATTERN_LENGTH_MAX,
  PATTERN_STEPS_MAX,
} from '../language/limits.ts'
import type { CelNode } from './cel.ts'
import { compilePattern } from './cel-functions.ts'
import { ExpressionError } from './expression-names.ts'
import type { Budget } from './expression-variables.ts'
import { patternSteps } from './pattern-steps.ts'

export function checkPattern(node: CelNode | undefined, text: string, budget: Budget): void {
  if (node?.op !== 'value' || typeof node.args !== 'string')
    throw new ExpressionError(
      node?.start ?? 0,
      `\`${text.slice(node?.start ?? 0, node?.end)}\` is not a literal pattern`,
      'write the pattern out: `x.matches("^[a-z]+$")`',
      'POLICY_EXPRESSION_UNSAFE',
    )
  if (node.args.length > PATTERN_LENGTH_MAX)
    throw new ExpressionError(
      node.start,
      `a pattern of ${node.args.length} characters`,
      `the limit is ${PATTERN_LENGTH_MAX}`,
      'POLICY_EXPRESSION_UNSAFE',
    )
  spend(node, patternSteps(node.args), budget)
  try {
    compilePattern(node.args)
  } catch (error) {
    throw new ExpressionError(
      node.start,
      `\`${node.args}\` is not a pattern of RE2: ${(error as Error).message.replace('error parsing regexp: ', '')}`,
      /\(\?[=!<]|\\\d/.test(node.args)
        ? 'look-around and back-references are not part of RE2'
        : 'fix the pattern',
      'POLICY_EXPRESSION_UNSAFE',
    )
  }
}

function spend(node: CelNode & { op: 'value' }, steps: number, budget: Budget): void {
  budget.patternSteps -= steps
  const unsafe = (what: string, help: string) =>
    new ExpressionError(node.start, `\`${node.args}\` ${what}`, help, 'POLICY_EXPRESSION_UNSAFE')
  if (steps > PATTERN_STEPS_MAX)
    throw unsafe(
      `has ${steps} steps with its repetitions written out`,
      `the limit is ${PATTERN_STEPS_MAX}: write \`*\` or \`+\`, and test the length with \`size\``,
    )
  if (budget.patternSteps < 0)
    throw unsafe(
      `is one pattern too many: together they have more than ${DOCUMENT_PATTERN_STEPS_MAX} steps`,
      'put the condition on a glob or a category',
    )
}
