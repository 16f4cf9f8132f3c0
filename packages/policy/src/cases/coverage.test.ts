// How much of a policy its cases reach.

import { expect, test } from 'vitest'
import { compiled } from '../../../../test/support/arbitrary-policies.ts'
import type { KnownTool } from '../calls/tools.ts'
import { MemoryCounters } from '../counters/memory-counters.ts'
import { readCases } from './cases.ts'
import { measureCoverage } from './coverage.ts'
import { runCase } from './run-cases.ts'

const inputSchema = { type: 'object', properties: { n: { type: 'integer' } } }
const TOOLS: KnownTool[] = ['x', 'y'].map((name) => ({
  definition: { server: 'a', name, inputSchema },
  category: 'Read',
  risk: 'low',
}))

const policy = compiled({
  version: 1,
  default: 'deny',
  categories: {
    Read: {
      action: 'allow',
      rate_limit: [
        { max: 1, window: 60 },
        { max: 9, window: '1h' },
      ],
    },
    Write: 'deny',
  },
  tools: {
    'a/*': { action: 'allow', when: 'args.n > 1' },
    'a/y': { action: 'deny', mode: 'shadow' },
  },
  methods: { 'prompts/get': 'allow' },
  resources: { 'a/*': 'allow' },
  prompts: { 'a/p': 'hide' },
  guardrails: [
    { name: 'asked', action: 'deny', when: 'session.calls > 5' },
    { name: 'always', rate_limit: { max: 3, window: 60 } },
  ],
})

function measure(cases: string) {
  const read = readCases({ file: 'c', text: `cases: [${cases}]` })
  const toolFor = (_: string, name: string) => TOOLS.find((tool) => tool.definition.name === name)!
  const results = (read.cases?.cases ?? []).map((one) =>
    runCase(policy, one, { toolFor, counters: () => new MemoryCounters() }),
  )
  const { branches, ...rest } = measureCoverage(policy, results, TOOLS)
  const hits = Object.fromEntries(
    branches.map(({ rule, branch, hits: count }) => [`${rule} ${branch}`, count]),
  )
  return { hits, ...rest }
}

test('without cases nothing is covered, and every tool is untested', () => {
  const { hits, covered, total, untried } = measure('')
  expect(Object.keys(hits).sort()).toEqual([
    '/categories/Read limit 1 in 60s per session reached',
    '/categories/Read limit 9 in 1h per session reached',
    '/categories/Read met',
    '/categories/Write met',
    '/guardrails/0 false',
    '/guardrails/0 true',
    '/guardrails/1 limit 3 in 60s per session reached',
    '/guardrails/1 met',
    '/methods/prompts~1get met',
    '/prompts/a~1p met',
    '/resources/a~1* met',
    '/tools/a~1* false',
    '/tools/a~1* true',
  ])
  expect({ covered, total }).toEqual({ covered: 0, total: 13 })
  expect(untried).toEqual([
    { tool: 'a/x', rules: ['/categories/Read', '/tools/a~1*'] },
    { tool: 'a/y', rules: ['/categories/Read', '/tools/a~1*'] },
  ])
})

test('each case adds what it covers; an undecidable condition covers neither side', () => {
  const { hits, covered, untried } = measure(
    [
      '{ call: a/x, args: { n: 2 }, repeat: 2, expect: deny }',
      '{ call: a/x, expect: deny }',
      '{ call: a/p, method: prompts/get, session: { calls: 6 }, expect: deny }',
    ].join(),
  )
  expect(hits).toMatchObject({
    '/categories/Read met': 3,
    '/categories/Read limit 1 in 60s per session reached': 1,
    '/categories/Read limit 9 in 1h per session reached': 0,
    '/tools/a~1* true': 2,
    '/tools/a~1* false': 0,
    '/prompts/a~1p met': 1,
    '/methods/prompts~1get met': 0,
    '/guardrails/0 true': 1,
    '/guardrails/0 false': 3,
    '/guardrails/1 met': 4,
  })
  expect(covered).toBe(7)
  expect(untried.map(({ tool }) => tool)).toEqual(['a/y'])
})
