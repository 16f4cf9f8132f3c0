// M16: a text that is being edited is tried on a call, and on the properties beside its document.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { KnownTool } from '@sluice/policy/calls/tools'
import { compile } from '@sluice/policy/compile/compile'
import type { CompiledPolicy } from '@sluice/policy/model/policy'
import { expect, test } from 'vitest'
import { scratchDirectory } from '../../../../test/support/scratch.ts'
import { proveDraft, tryCall } from './draft-trials.ts'

const REFUND: KnownTool = {
  definition: {
    server: 'shop',
    name: 'refund',
    inputSchema: { type: 'object', properties: { amount: { type: 'number' } } },
  },
  category: 'Financial',
  risk: 'critical',
} as KnownTool

function compiled(text: string): CompiledPolicy {
  const { policy, problems } = compile({ file: '', text })
  if (policy === undefined) throw new Error(JSON.stringify(problems))
  return policy
}
const POLICY = compiled(`version: 1
default: deny
tools:
  shop/refund: { action: allow, when: args.amount <= 100, otherwise: require_approval }
guardrails:
  - { name: no keys, when: call.secret, action: deny }
`)

test('a call is decided by its arguments, with what they hold, and not made', () => {
  const decide = (args: string) => {
    const call = { server: 'shop', name: 'refund', principal: 'local', args }
    return tryCall(POLICY, call, { tools: [REFUND], nowMs: 0 })
  }
  expect(decide('{ "amount": 100 }')).toMatchObject({ action: 'allow' })
  expect(decide('{ "amount": 100.01 }')).toMatchObject({ action: 'require_approval' })
  const key = `sk_live_${'4eC39HqLyjWDarjtT1zdp7dc'}`
  expect(decide(`{ "amount": 1, "note": "${key}" }`)).toMatchObject({ action: 'deny' })
  expect(decide('[1]')).toBeUndefined()
})

test('the properties beside the document are proved, or the call that breaks one is said', () => {
  const folder = scratchDirectory()
  const policyFile = join(folder, 'policy.yaml')
  expect(proveDraft(policyFile, POLICY, [REFUND])).toEqual({
    file: join(folder, 'properties.yaml'),
    why: 'this file is missing',
    properties: [],
  })
  writeFileSync(
    join(folder, 'properties.yaml'),
    `properties:
  - { name: no large refund, never: { tool: shop/refund, when: args.amount > 100.0, action: allow } }
  - { name: no refund, never: { tool: shop/*, action: allow } }
  - { name: no mail, never: { server: mail, action: allow } }
`,
  )
  const { why, properties } = proveDraft(policyFile, POLICY, [REFUND])
  expect(why).toBe('')
  expect(properties.map(({ result, tools }) => [result, tools])).toEqual([
    ['proved', 1],
    ['refuted', 1],
    ['nothing', 0],
  ])
  expect(properties[1]?.against[0]?.says).toMatch(/^allow with \{"amount":/)
  writeFileSync(join(folder, 'properties.yaml'), 'properties: 1\n')
  expect(proveDraft(policyFile, POLICY, [REFUND]).why).toMatch(/^line 1 of this file: /)
  writeFileSync(join(folder, 'properties.yaml'), 'properties: []\n')
  expect(proveDraft(policyFile, POLICY, [REFUND]).why).toMatch(/is an empty list$/)
})
