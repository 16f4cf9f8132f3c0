// What an overview says of a tool: the action of its rules, unless a condition on arguments decides.

import { expect, test } from 'vitest'
import { compiled } from '../../../../test/support/arbitrary-policies.ts'
import type { KnownTool } from '../calls/tools.ts'
import { getTypicalAction } from './typical-action.ts'

const inputSchema = { type: 'object', properties: { path: { type: 'string' } } }
const tool: KnownTool = {
  definition: { server: 'files', name: 'write', inputSchema },
  category: 'Write',
  risk: 'medium',
}

test.each([
  ['a guardrail on arguments', { when: 'args.path.contains("/.git/")', action: 'deny' }, 'depends'],
  ['one that always applies', { action: 'deny' }, 'deny'],
  ['one that a new session does not meet', { when: 'session.calls > 5', action: 'deny' }, 'allow'],
])('%s', (_, guardrail, action) => {
  const document = { version: 1, default: 'allow', guardrails: [{ name: 'g', ...guardrail }] }
  expect(getTypicalAction(compiled(document), tool)).toBe(action)
  const under = compiled({ version: 1, default: 'allow' }, { base: compiled(document) })
  expect(getTypicalAction(under, tool)).toBe(action)
  // It changes nothing about a tool that is denied anyway.
  expect(getTypicalAction(compiled({ ...document, default: 'deny' }), tool)).toBe('deny')
})
