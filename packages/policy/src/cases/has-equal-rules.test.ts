// Which calls an edit of a document touches.

import { expect, test } from 'vitest'
import { compiled } from '../../../../test/support/arbitrary-policies.ts'
import type { KnownTool } from '../calls/tools.ts'
import { hasEqualRules } from './has-equal-rules.ts'
import { sampleFacts } from './sample-facts.ts'

const DOCUMENT = {
  version: 1,
  default: 'deny',
  categories: { Read: 'allow' },
  tools: { 'bank/pay': { action: 'allow', when: 'args.amount <= 100' }, 'bank/look': 'allow' },
  guardrails: [{ name: 'keys stay here', when: 'call.secret', action: 'deny' }],
}

function isTouched(edit: object, name: string): boolean {
  const tool: KnownTool = {
    definition: { server: 'bank', name },
    category: 'Financial',
    risk: 'high',
  }
  const call = { server: 'bank', method: 'tools/call', name, args: {} }
  const [one, other] = [compiled(DOCUMENT), compiled({ ...DOCUMENT, ...edit })]
  return !hasEqualRules(one, other, { call, facts: sampleFacts(tool) })
}

test('an edit touches the calls whose rules it changes', () => {
  const stricter = { 'bank/pay': { action: 'allow', when: 'args.amount <= 50' } }
  const tools = { ...DOCUMENT.tools, ...stricter }
  expect([isTouched({ tools }, 'pay'), isTouched({ tools }, 'look')]).toEqual([true, false])
  expect(isTouched({ categories: { Read: 'deny' } }, 'pay')).toBe(false)
  expect(isTouched({}, 'pay')).toBe(false)
})

test('what counts for every tool touches every call', () => {
  for (const edit of [
    { default: 'require_approval' },
    { mode: 'shadow' },
    { labels: { 'bank/look': ['seen'] } },
    { guardrails: [{ name: 'keys stay here', when: 'call.card', action: 'deny' }] },
    { egress: { 'bank/*': ['a.example'] } },
  ])
    expect([edit, isTouched(edit, 'pay')]).toEqual([edit, true])
})
