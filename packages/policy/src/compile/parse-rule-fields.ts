// The common fields of rules and guardrails: condition, limits, approval, reason, mode; with checks
// across fields.

import type { Action } from '../calls/actions.ts'
import { scalar } from '../document/fields.ts'
import type { Problems } from '../document/problem.ts'
import { findEntry, getSourceOffset, type LocatedMap } from '../document/read-document.ts'
import { parseExpression } from '../expression/expression.ts'
import { ExpressionError } from '../expression/expression-names.ts'
import type { Budget } from '../expression/expression-variables.ts'
import { weakTests } from '../expression/weak-tests.ts'
import type { Rule } from '../model/rule.ts'
import { noEffect } from './no-effect.ts'
import { parseApproval } from './parse-approval.ts'
import { parseLimits } from './parse-limit.ts'

/** What all rules of a document are parsed with. */
export interface RuleContext {
  readonly problems: Problems
  readonly labels: ReadonlySet<string>
  readonly budget: Budget
  /** The document's name, part of every counter's key. */
  readonly document: string
}

interface CommonContext {
  readonly pointer: string
  readonly words: readonly Action[]
  readonly id: string
  readonly context: RuleContext
}

/** The fields that rules and guardrails have in common. */
export type CommonRuleFields = Pick<
  Rule,
  'pointer' | 'at' | 'reason' | 'when' | 'limits' | 'approval' | 'extraArgs' | 'shadow'
>

/** Parses the fields that rules and guardrails have in common, and reports those without an effect. */
export function parseCommon(
  map: LocatedMap,
  at: number,
  { pointer, words, id, context }: CommonContext,
): CommonRuleFields {
  const { problems } = context
  const when = parseWhen(map, context)
  const limits = parseLimits(map, id, problems)
  const passes = words.some((word) => word === 'allow' || word === 'require_approval')
  if (limits.length > 0 && !passes) {
    const field = findEntry(map, 'rate_limit') ? 'rate_limit' : 'spend_limit'
    noEffect(map, field, {
      message: `\`${field}\` is set on a rule that never allows a call (${words.map((word) => `\`${word}\``).join(', ')})`,
      help: 'take the limit away, or let the call pass',
      problems,
    })
  }
  if (findEntry(map, 'approval') !== undefined && !words.includes('require_approval'))
    noEffect(map, 'approval', {
      message: '`approval` is set but nothing requires one',
      help: 'write `require_approval`, or remove it',
      problems,
    })
  const readsArgs = when?.expression.readsArgs === true
  if (findEntry(map, 'extra_args') !== undefined && !readsArgs)
    noEffect(map, 'extra_args', {
      message: '`extra_args` needs a `when` that reads `args`',
      help: 'take it away',
      problems,
    })
  return {
    pointer,
    at,
    reason: (scalar(map, 'reason') as string | undefined) ?? '',
    ...(when === undefined ? {} : { when }),
    limits,
    approval: parseApproval(map, problems),
    extraArgs: scalar(map, 'extra_args') === 'allow',
    shadow: scalar(map, 'mode') === 'shadow',
  }
}

function parseWhen(map: LocatedMap, context: RuleContext): Rule['when'] {
  const node = findEntry(map, 'when')
  if (node === undefined || node.kind !== 'scalar') return undefined
  const { problems } = context
  const place = (offset: number) => getSourceOffset(node, offset)
  try {
    const expression = parseExpression(node.value as string, context.labels, context.budget)
    for (const weak of weakTests(expression))
      problems.warn(weak.code, place(weak.at), weak.message, weak.help)
    return { expression, placeOf: place }
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error
    problems.error(error.code, place(error.at), `in \`when\`: ${error.message}`, error.help)
    return undefined
  }
}
