// Conditions: a text is parsed or refused with a place in it, and what is parsed evaluates to true, false
// or undecidable without throwing.

import { sampleFacts } from '@sluice/policy/cases/sample-facts'
import { bindExpression } from '@sluice/policy/expression/evaluate/bind-expression'
import { readDeclaredArguments } from '@sluice/policy/expression/evaluate/declared-types'
import { evaluate } from '@sluice/policy/expression/evaluate/evaluate'
import { parseExpression } from '@sluice/policy/expression/expression'
import { ExpressionError } from '@sluice/policy/expression/expression-names'

export const seeds = [
  'args.amount > 50 && args.to.startsWith("a")',
  'path(args.file).within("/tmp") || url(args.link).host == "a.example"',
  'args.list.all(x, x.size() < 3) && "finance" in principal.groups',
  'args.to.matches("^[a-z]+$") ? call.category == "Read" : !session.saw.private',
]
export const tokens = [
  '&&',
  '||',
  'args.',
  '.exists(x, ',
  'matches(',
  'duration("1h")',
  '1.5',
  '"é"',
]

const DECLARED = readDeclaredArguments({
  type: 'object',
  properties: {
    amount: { type: 'number' },
    to: { type: 'string' },
    file: { type: 'string' },
    link: { type: 'string' },
    list: { type: 'array', items: { type: 'string' } },
  },
})
const ARGS = {
  amount: 7,
  to: 'ab',
  file: '/tmp/../x',
  link: 'http://a.example/',
  list: ['a', 'bb'],
}
const CALL = { server: 's', method: 'tools/call', name: 't', args: ARGS }
const NOW = { wallMs: 1_800_000_000_000, monotonicMs: 0 }
const FACTS = sampleFacts(undefined, { principal: { groups: ['finance'] } })
const RESULTS = ['true', 'false', 'undecidable']

export function run(input: Buffer): void {
  const text = input.toString('utf8')
  let program: ReturnType<typeof bindExpression>['program']
  try {
    program = bindExpression(parseExpression(text, new Set()), DECLARED, {
      extraArgs: false,
    }).program
  } catch (error) {
    if (error instanceof ExpressionError) return
    throw error
  }
  if (program === undefined) return
  const result = evaluate(program, {
    call: CALL,
    facts: FACTS,
    now: NOW,
    category: 'Read',
    args: ARGS,
    assumed: undefined,
  })
  if (!RESULTS.includes(result.is)) throw new Error(`the result is \`${result.is}\``)
}
