// Conditions over what a session called before: `called`, `calledWithin`, `callsAfter`.

import { describe, expect, test } from 'vitest'
import { compiled } from '../../../../test/support/arbitrary-policies.ts'
import type { PastCalls } from '../calls/past-calls.ts'
import type { KnownTool } from '../calls/tools.ts'
import { sampleFacts } from '../cases/sample-facts.ts'
import { compile } from '../compile/compile.ts'
import { MemoryCounters } from '../counters/memory-counters.ts'
import { decide } from './decide.ts'

const TOOL: KnownTool = {
  definition: { server: 'mail', name: 'send', inputSchema: {} },
  category: 'Write',
  risk: 'low',
}
const NOW = { wallMs: 0, monotonicMs: 600_000 }

function ask(when: string, past: PastCalls | undefined) {
  const policy = compiled({
    version: 1,
    default: 'allow',
    guardrails: [{ name: 'g', when, action: 'deny' }],
  })
  const call = { server: 'mail', name: 'send', method: 'tools/call', args: {} }
  const facts = sampleFacts(TOOL, { session: { past } })
  return decide(policy, call, facts, new MemoryCounters(), NOW)
}

const at = (name: string, atMs: number) => ({ server: 'mail', name, atMs })
const PAST = {
  calls: [at('send', 1_000), at('read', 100_000), at('send', 200_000), at('send', 590_000)],
  hasMore: false,
}

test.each<[string, boolean]>([
  ['called("mail/read")', true],
  ['called("mail/re*")', true],
  ['called("docs/*")', false],
  ['calledWithin("mail/read", "1h")', true],
  ['calledWithin("mail/read", "5m")', false],
  ['calledWithin("docs/*", "5m")', false],
  ['callsAfter("mail/send", "mail/read") == 2', true],
  ['callsAfter("mail/*", "docs/*") > 0', false],
  ['callsAfter("mail/send", "mail/read") > 1 && called("mail/read")', true],
])('%s: %s', (when, holds) => {
  expect(ask(when, PAST).action).toBe(holds ? 'deny' : 'allow')
})

describe('what is not known cannot be decided, and a guardrail then applies', () => {
  const more = { ...PAST, hasMore: true }

  test.each<[string, PastCalls | undefined, boolean]>([
    ['called("mail/read")', undefined, true],
    ['called("docs/*")', more, true],
    ['called("mail/read")', more, false],
    ['calledWithin("docs/*", "1h")', more, true],
    ['calledWithin("docs/*", "1h")', { calls: [], hasMore: true }, true],
    ['calledWithin("docs/*", "1m")', more, false],
    ['callsAfter("mail/send", "docs/*") > 5', more, true],
  ])('%s', (when, past, isUndecided) => {
    expect(ask(when, past).guardrails.some(({ undecided }) => undecided)).toBe(isUndecided)
  })
})

test.each([
  ['called(args.x)', 'takes a tool here, written out'],
  ['called("mail")', 'takes a tool here, written out'],
  ['called("a/b", "c/d")', 'takes 1 argument, not 2'],
  ['calledWithin("a/b", "soon")', 'takes a time here, written out'],
  ['calledWithin("a/b", 5)', 'takes a time here, written out'],
])('%s is an error', (when, message) => {
  const guardrails = [{ name: 'g', when, action: 'deny' }]
  const text = JSON.stringify({ version: 1, default: 'allow', guardrails })
  expect(compile({ file: 'p', text }).problems[0]?.message).toContain(message)
})
