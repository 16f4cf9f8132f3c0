// The playground's text is that of the command: what is allowed, held, refuted and wrong.

import { expect, test } from 'vitest'
import { EXAMPLE } from './example.ts'
import { explain } from './explain.ts'

test('a call above the amount waits for a person, and the rule is named with its line', () => {
  const { decision, proofs } = explain(EXAMPLE)
  expect(decision).toContain('require_approval')
  expect(decision).toContain('shop/create_refund (policy.yaml:5)')
  expect(decision).toContain('when args.amount <= 50.0')
  expect(proofs).toContain('proved      no refund above 50 without a person (1 tool)')
})

test('a smaller amount passes', () => {
  const call = '{ "tool": "shop/create_refund", "args": { "order": "A-1", "amount": 20 } }'
  expect(explain({ ...EXAMPLE, call }).decision).toMatch(/^ {2}allow ALLOWED/m)
})

test('a property that does not hold comes with the call that breaks it', () => {
  const properties = 'properties:\n  - never: { tool: shop/create_refund, action: allow }\n'
  expect(explain({ ...EXAMPLE, properties }).proofs).toMatch(
    /^refuted.*\n {2}shop\/create_refund \{.*: allow$/m,
  )
})

test.each([
  [{ policy: 'version: 1\ndefault: maybe\n' }, 'policy.yaml:2:10: error'],
  [{ tools: '{' }, 'the tools: not JSON'],
  [{ tools: '{}' }, 'the tools are not an array'],
  [{ tools: '[{"name":"x"}]' }, 'tool 1 has no `server`'],
  [{ call: '{}' }, 'the call has no `tool`'],
])('%j is answered with what is wrong', (wrong, message) => {
  expect(explain({ ...EXAMPLE, ...wrong }).decision).toContain(message)
})
