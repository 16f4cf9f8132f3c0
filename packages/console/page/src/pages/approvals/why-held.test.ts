// M1: the reason of a held call says the values that decided.

import { compile } from '@sluice/policy/compile/compile'
import { toCanonicalRuleText } from '@sluice/policy/model/canonical-rule'
import { listRules } from '@sluice/policy/model/policy'
import { expect, test } from 'vitest'
import { explainHeld } from './why-held.ts'

function explain(rule: string, args: object, section = 'tools:\n  a/b: ') {
  const text = `version: 1\ndefault: deny\n${section}${rule}\n`
  const { policy, problems } = compile({ file: '', text })
  const [only] = policy === undefined ? [] : listRules(policy)
  if (only === undefined) throw new Error(JSON.stringify(problems))
  return explainHeld(toCanonicalRuleText(only), JSON.stringify(args))
}

test('a rule that allows up to a bound asks above it', () => {
  const rule = '{ action: allow, when: args.amount <= 100, otherwise: require_approval }'
  expect(explain(rule, { amount: 180.5 })).toEqual({
    condition: 'args.amount <= 100',
    holds: false,
    values: ['amount 180.5 is above 100'],
  })
})

test('a guardrail asks when its condition holds', () => {
  const rule =
    '{ name: big, when: "args.amount > 6000 && args.deep.count >= 2", action: require_approval }'
  const { values, holds } = explain(rule, { amount: 7000, deep: { count: 2 } }, 'guardrails:\n  - ')
  expect([values, holds]).toEqual([['amount 7000 is above 6000', 'deep.count 2 is 2'], true])
})

test('what `protect` adds is a guardrail', () => {
  const { condition, holds } = explain('balanced', {}, 'protect: ')
  expect([condition, holds]).toEqual(['call.changesUnasked', true])
})

test('without a comparison the condition is left to be shown, and a rule may have none', () => {
  const rule = '{ action: allow, when: args.to == "ann", otherwise: require_approval }'
  expect(explain(rule, { to: 'bob' })).toMatchObject({ values: [], condition: 'args.to == "ann"' })
  expect(explain('require_approval', {})).toEqual({ values: [], holds: true, condition: undefined })
})
