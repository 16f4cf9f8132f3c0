// Files of cases and of properties: what is read from them, and the problems of invalid ones.

import { describe, expect, test } from 'vitest'
import { compiled } from '../../../../test/support/arbitrary-policies.ts'
import type { KnownTool } from '../calls/tools.ts'
import { MemoryCounters } from '../counters/memory-counters.ts'
import { ExactNumber } from '../values/json.ts'
import { readCases } from './cases.ts'
import { readProperties } from './properties.ts'
import { runCase } from './run-cases.ts'

/** The cases of a file that has no problems. */
function casesOf(text: string) {
  const { cases, problems } = readCases({ file: 'cases.yaml', text })
  expect(problems).toEqual([])
  return cases?.cases ?? []
}

function complaints({
  problems,
}: {
  problems: readonly { line: number; column: number; code: string; message: string }[]
}) {
  return problems.map(({ line, column, code, message }) => `${line}:${column} ${code} ${message}`)
}

describe('a case', () => {
  test('states only what it is about; the rest has defaults', () => {
    expect(casesOf('cases:\n  - { call: a/b/c, expect: allow }')).toEqual([
      {
        name: 'a/b/c (case 1)',
        line: 2,
        server: 'a',
        tool: 'b/c',
        method: 'tools/call',
        args: {},
        facts: {},
        atMs: 0,
        repeat: 1,
        everyMs: 0,
        expect: { action: 'allow' },
      },
    ])
  })

  test('states everything', () => {
    const [one] = casesOf(`
policy: p.yaml
tools: t.json
cases:
  - name: n
    call: a/b
    method: resources/read
    args: { x: [1, null, true, { __proto__: y }] }
    principal: { id: p, kind: k, groups: [g], claims: { c: 1 } }
    session: { id: s, calls: 4, saw: [private] }
    agent: { id: i, owner: o, template: t, depth: 1, turn: 2 }
    category: Write
    at: "2026-03-01T00:00:01Z"
    secret: true
    repeat: 3
    every: 5m
    expect: { action: deny, code: C, rule: r, reason: why, guardrails: [g], visible: false }
`)
    expect(one).toMatchObject({
      name: 'n',
      line: 5,
      method: 'resources/read',
      facts: {
        principal: { id: 'p', kind: 'k', groups: ['g'], claims: { c: 1 } },
        session: { id: 's', calls: 4, saw: ['private'] },
        agent: { id: 'i', owner: 'o', template: 't', depth: 1, turn: 2 },
        callCategory: 'Write',
        holdsSecret: true,
      },
      atMs: Date.UTC(2026, 2, 1, 0, 0, 1),
      repeat: 3,
      everyMs: 300_000,
      expect: {
        action: 'deny',
        code: 'C',
        rule: 'r',
        reason: 'why',
        guardrails: ['g'],
        visible: false,
      },
    })
    expect(JSON.stringify(one?.args)).toBe('{"x":[1,null,true,{"__proto__":"y"}]}')
  })

  test.each([
    ['1.00000000000000000001', new ExactNumber('1.00000000000000000001')],
    ['9007199254740993', new ExactNumber('9007199254740993')],
    ['9007199254740992', 9007199254740992],
    ['123456789012345.5', 123456789012345.5],
    ['1.50', 1.5],
    ['0x10', 16],
    ['.inf', new ExactNumber('.inf')],
    ['1e400', new ExactNumber('1e400')],
  ])('a number that no double says is kept as written: %s', (text, value) => {
    const [one] = casesOf(`cases: [{ call: a/b, args: { x: ${text} }, expect: allow }]`)
    expect(one?.args.x).toEqual(value)
  })

  test('`args` without a value are empty', () => {
    expect(casesOf('cases:\n  - call: a/b\n    args:\n    expect: allow')[0]?.args).toEqual({})
  })

  test.each([
    '1970-01-01T00:00:00Z',
    '2000-02-29T23:59:59Z',
    '2024-02-29T00:00:00Z',
    '2026-12-31T12:30:45Z',
    '0001-01-01T00:00:00Z',
  ])('a time is that time: %s', (at) => {
    const [one] = casesOf(`cases: [{ call: a/b, at: "${at}", expect: allow }]`)
    expect(one?.atMs).toBe(Date.parse(at))
  })
})

describe('what the session called before', () => {
  const guardrail = (name: string, tool: string, when: string) => ({
    name,
    match: { tools: [tool] },
    when,
    action: 'deny',
  })
  const policy = compiled({
    version: 1,
    default: 'allow',
    guardrails: [
      guardrail('soon', 'a/up', 'calledWithin("v/*", "10m")'),
      guardrail('three', 'a/send', 'callsAfter("a/send", "a/read") >= 3'),
      {
        ...guardrail('more', 'a/pay', 'args.sum > last("v/bill", "id", args.bill).sum'),
        extra_args: 'allow',
      },
      guardrail('loop', 'a/again', 'session.repeats >= 3 || session.tokens > 10'),
    ],
  })
  const tools = {
    toolFor: (server: string, name: string): KnownTool => ({
      definition: { server, name, inputSchema: { type: 'object' } },
      category: 'Write',
      risk: 'low',
    }),
    counters: () => new MemoryCounters(),
  }

  test.each([
    ['{ call: a/up, expect: allow }'],
    ['{ call: a/up, called: [{ tool: v/x, ago: 9m }], expect: deny }'],
    ['{ call: a/up, called: [{ tool: v/x, ago: 11m }], expect: allow }'],
    ['{ call: a/up, called: [{ tool: v/x }], repeat: 2, every: 10m, expect: allow }'],
    ['{ call: a/send, called: [{ tool: a/read }], repeat: 3, expect: allow }'],
    ['{ call: a/send, called: [{ tool: a/read }], repeat: 4, expect: { guardrails: [three] } }'],
    ['{ call: a/send, repeat: 4, expect: allow }'],
    [
      '{ call: a/pay, args: { bill: B, sum: 5 }, called: [{ tool: v/bill, args: { id: B }, answer: { sum: 5 } }], expect: allow }',
    ],
    [
      '{ call: a/pay, args: { bill: B, sum: 6 }, called: [{ tool: v/bill, args: { id: B }, answer: { sum: 5 } }], expect: deny }',
    ],
    [
      '{ call: a/pay, args: { bill: B, sum: 5 }, called: [{ tool: v/bill, args: { id: C }, answer: { sum: 5 } }], expect: deny }',
    ],
    [
      '{ call: a/pay, args: { bill: B, sum: 5 }, called: [{ tool: v/bill, args: { id: B, in: EUR }, answer: { sum: 5 } }], expect: deny }',
    ],
    [
      '{ call: a/pay, args: { bill: B, sum: 5 }, called: [{ tool: v/bill, args: { id: B } }], expect: deny }',
    ],
    ['{ call: a/again, repeat: 3, expect: allow }'],
    ['{ call: a/again, repeat: 4, expect: deny }'],
    ['{ call: a/again, session: { repeats: 2 }, expect: allow }'],
    ['{ call: a/again, session: { repeats: 3 }, expect: deny }'],
    ['{ call: a/again, session: { tokens: 11 }, expect: deny }'],
    // Most of its past is no longer known, and none of that could matter.
    ['{ call: a/up, called: [{ tool: v/x }], repeat: 1200, every: 1s, expect: allow }'],
  ])('%s', (text) => {
    const [one] = casesOf(`cases: [${text}]`)
    expect(one && runCase(policy, one, tools).differences).toEqual([])
  })
})

describe('an invalid file of cases', () => {
  const one = (fields: string) => `cases:\n  - ${fields}\n`
  test.each([
    ['is empty', '', ['1:1 DOCUMENT_EMPTY']],
    ['is a list', '- call: a/b', ['1:1 DOCUMENT_WRONG_TYPE']],
    ['has no cases', 'policy: p', ['1:1 DOCUMENT_MISSING_KEY a file of cases needs `cases`']],
    ['has none in it', 'cases: []', ['1:8 DOCUMENT_OUT_OF_RANGE `cases` is an empty list']],
    [
      'misspells a key',
      one('{ cal: a/b, expect: allow }'),
      ['2:7 DOCUMENT_UNKNOWN_KEY unknown key `cal` in a case'],
    ],
    ['expects nothing', one('{ call: a/b }'), ['2:5 DOCUMENT_MISSING_KEY a case needs `expect`']],
    [
      'expects an empty mapping',
      one('{ call: a/b, expect: {} }'),
      ['2:26 CASES_INVALID `expect` expects nothing: every verdict would pass'],
    ],
    [
      'expects a word that is none',
      one('{ call: a/b, expect: alow }'),
      ['2:26 DOCUMENT_UNKNOWN_WORD'],
    ],
    [
      'calls without a server',
      one('{ call: b, expect: allow }'),
      ['2:13 DOCUMENT_BAD_NAME `b` is not a `<server>/<tool>`'],
    ],
    [
      'has called without a server',
      one('{ call: a/b, called: [{ tool: c/d }, { tool: b }], expect: allow }'),
      ['2:26 DOCUMENT_BAD_NAME `b` is not a `<server>/<tool>`'],
    ],
    ['calls nothing of a server', one('{ call: b/, expect: allow }'), ['2:13 DOCUMENT_BAD_NAME']],
    [
      'has a list for arguments',
      one('{ call: a/b, args: [1], expect: allow }'),
      ['2:24 DOCUMENT_WRONG_TYPE `args` is not a mapping'],
    ],
    [
      'has a word for arguments',
      one('{ call: a/b, args: x, expect: allow }'),
      ['2:24 DOCUMENT_WRONG_TYPE'],
    ],
    [
      'has no such method',
      one('{ call: a/b, method: tools/list, expect: allow }'),
      ['2:26 DOCUMENT_UNKNOWN_WORD'],
    ],
    [
      'has no such day',
      one('{ call: a/b, at: "2026-02-29T00:00:00Z", expect: allow }'),
      ['2:22 DOCUMENT_WRONG_TYPE `2026-02-29T00:00:00Z` is not a time'],
    ],
    [
      'has no such month',
      one('{ call: a/b, at: "2026-13-01T00:00:00Z", expect: allow }'),
      ['2:22 DOCUMENT_WRONG_TYPE'],
    ],
    [
      'has no such hour',
      one('{ call: a/b, at: "2026-01-01T24:00:00Z", expect: allow }'),
      ['2:22 DOCUMENT_WRONG_TYPE'],
    ],
    [
      'has a time of another form',
      one('{ call: a/b, at: tomorrow, expect: allow }'),
      ['2:22 DOCUMENT_WRONG_TYPE'],
    ],
    [
      'repeats never',
      one('{ call: a/b, repeat: 0, expect: allow }'),
      ['2:26 DOCUMENT_OUT_OF_RANGE'],
    ],
  ] as const)('one that %s', (_what, text, expected) => {
    const read = readCases({ file: 'cases.yaml', text })
    expect(read.cases).toBeUndefined()
    const got = complaints(read)
    expect(got.map((line, index) => line.slice(0, expected[index]?.length))).toEqual(expected)
    for (const problem of read.problems) expect(problem.help).not.toBe('')
  })
})

describe('a case that fails', () => {
  const tool: KnownTool = { definition: { server: 'a', name: 'b' }, category: 'Read', risk: 'low' }
  const tools = { toolFor: () => tool, counters: () => new MemoryCounters() }
  const policy = compiled({
    version: 1,
    default: 'hide',
    tools: { 'a/b': { action: 'allow', rate_limit: { max: 1, window: 60 } } },
    guardrails: [{ name: 'g', action: 'deny', when: 'session.calls > 1' }],
  })
  const run = (text: string) => runCase(policy, casesOf(`cases: [${text}]`)[0]!, tools)

  test('reports every difference', () => {
    const result = run(
      '{ call: a/b, session: { calls: 2 }, expect: { action: allow, code: ALLOWED, rule: /x, reason: r, guardrails: [h, a], visible: false } }',
    )
    expect(result.passed).toBe(false)
    expect(result.differences).toEqual([
      'action: expected `allow`, got `deny`',
      'code: expected `ALLOWED`, got `DENIED`',
      'rule: expected `/x`, got `/guardrails/0`',
      'reason: expected `r`, got `a guardrail of the policy does not permit it`',
      'guardrails: expected `a, h`, got `g`',
      'visible: expected `false`, got `true`',
    ])
  })

  test('consumes what passes, and the last call is decided', () => {
    expect(run('{ call: a/b, repeat: 2, expect: deny }').passed).toBe(true)
    expect(run('{ call: a/b, repeat: 2, every: 60, expect: allow }').passed).toBe(true)
    expect(run('{ call: a/b, repeat: 2, expect: deny }').traces).toHaveLength(2)
  })

  test('has no tool if the method calls none', () => {
    const result = run('{ call: "a/file:///x", method: resources/read, expect: hide }')
    expect(result).toMatchObject({ passed: true, decision: { rule: '/default' } })
  })
})

describe('properties', () => {
  test('are read, with one action or several', () => {
    const { properties, problems } = readProperties({
      file: 'p.yaml',
      text: `properties:
  - never: { category: Destructive, action: allow }
  - { name: mine, always: { tool: ["a/*", b/c], server: [a, b], risk: [high, low], action: [deny, hide] } }
  - always: { action: deny }
`,
    })
    expect(problems).toEqual([])
    expect(properties).toMatchObject([
      {
        name: 'never allow: Destructive',
        line: 2,
        kind: 'never',
        categories: ['Destructive'],
        actions: ['allow'],
      },
      {
        name: 'mine',
        kind: 'always',
        tools: [{ key: 'a/*' }, { key: 'b/c' }],
        servers: ['a', 'b'],
        risks: ['high', 'low'],
        actions: ['deny', 'hide'],
      },
      { name: 'always deny: any tool' },
    ])
  })

  test.each([
    ['is empty', '', 'DOCUMENT_EMPTY'],
    [
      'has neither',
      'properties: [{ name: x }]',
      'CASES_INVALID a property needs exactly one of `never` and `always',
    ],
    [
      'has both',
      'properties: [{ never: { action: deny }, always: { action: allow } }]',
      'CASES_INVALID',
    ],
    [
      'has no action',
      'properties: [{ never: { tool: a/b } }]',
      'DOCUMENT_MISSING_KEY a claim needs `action`',
    ],
    [
      'has no such category',
      'properties: [{ never: { category: Delete, action: allow } }]',
      'DOCUMENT_UNKNOWN_WORD',
    ],
    [
      'has a tool without a server',
      'properties: [{ never: { tool: b, action: allow } }]',
      'DOCUMENT_BAD_NAME `b` is not a `<server>/<tool>`',
    ],
  ])('a wrong file that %s', (_what, text, expected) => {
    const read = readProperties({ file: 'p.yaml', text })
    expect(read.properties).toBeUndefined()
    expect(complaints(read)[0]?.replace(/^\S+ /, '').slice(0, expected.length)).toBe(expected)
  })
})
