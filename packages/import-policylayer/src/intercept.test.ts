// Intercept documents and what becomes of them: the text that is written, and every warning and
// error with its place. The samples are our own.

import { compile } from '@sluice/policy/compile/compile'
import { describe, expect, it } from 'vitest'
import { importPolicy } from './import-policy.ts'
import { listProblems, options, rulesOf } from './look.test-support.ts'

const intercept = (tools: string) => `version: "1"\ndefault: deny\ntools:\n${tools}`
const oneRule = (rule: string) => intercept(`  pay:\n    rules: [{ name: a, ${rule} }]\n`)
const oneCondition = (condition: string) => oneRule(`conditions: [{ ${condition} }]`)

describe('Intercept YAML', () => {
  it('becomes one rule where a tool has one', () => {
    const text = intercept(`
  # takes money
  pay:
    rules:
      - name: small amounts
        conditions:
          - { path: args.amount, op: lte, value: 500 }
          - { path: args.currency, op: in, value: [usd, eur] }
        on_deny: only small amounts
  post:
    rules:
      - name: slowly
        rate_limit: 5/hour
  drop:
    rules: [{ name: never, action: deny, on_deny: not by agents }]
  look: { rules: [] }
`)
    expect(rulesOf(text)).toBe(`tools:
  # takes money
  shop/pay:
    action: allow
    when: args.amount <= 500 && args.currency in ["usd", "eur"]
    extra_args: allow
    reason: only small amounts
  shop/post:
    action: allow
    rate_limit: { max: 5, window: 1h, per: everyone }
    reason: slowly
  shop/drop:
    action: deny
    reason: not by agents
  shop/look: allow
`)
  })

  it('becomes one guardrail for each rule where there are several, with its own reason', () => {
    const text = intercept(`
  pay:
    rules:
      - { name: cap, conditions: [{ path: args.amount, op: lt, value: 500 }], on_deny: too much }
      - name: day
        conditions: [{ path: state.pay.spent, op: lt, value: 1000 }]
        state: { counter: spent, window: day, increment_from: args.amount }
      - name: ask
        action: require_approval
        approval_timeout: 1h30m
        conditions: [{ path: args.amount, op: gt, value: 100 }]
  "*":
    rules: [{ name: all, rate_limit: 60/minute }]
`)
    expect(rulesOf(text)).toBe(`tools:
  shop/pay: allow
guardrails:
  - name: "pay: cap"
    match: { tools: [ shop/pay ] }
    action: deny
    when: "!(args.amount < 500)"
    extra_args: allow
    reason: too much
  - name: "pay: day"
    match: { tools: [ shop/pay ] }
    action: deny
    when: "!(args.amount >= 0)"
    extra_args: allow
    reason: day
  - name: "pay: day, limit"
    match: { tools: [ shop/pay ] }
    spend_limit: { amount: args.amount, max: 999, window: 1d, per: everyone }
    reason: day
  - name: "pay: ask"
    match: { tools: [ shop/pay ] }
    action: require_approval
    when: has(args.amount) && args.amount > 100
    extra_args: allow
    approval: { timeout: 90m }
    reason: ask
  - name: "all tools: all"
    match: { tools: [ shop/* ] }
    rate_limit: { max: 60, window: 1m, per: everyone }
    reason: all
`)
  })

  it('keeps `default: allow` to its own server, and says so', () => {
    const text = 'version: "1"\nhide: [drop]\ntools: {}\n'
    expect(rulesOf(text)).toBe(`tools:
  # the original allows what it does not list
  shop/*: allow
  shop/drop: hide
`)
    expect(listProblems(text, 'warnings')).toEqual([
      '1:1 IMPORT_OTHER_METHODS',
      '1:1 IMPORT_DEFAULT_ALLOW',
      '2:1 IMPORT_HIDE',
    ])
  })

  it('hides everything with `*`, and nothing listed escapes it', () => {
    expect(rulesOf('version: "1"\nhide: ["*"]\ntools: { look: { rules: [] } }\n')).toBe(
      'tools:\n  shop/*: hide\n',
    )
  })

  it.each([
    ['eq text', 'path: args.x, op: eq, value: main', 'args.x == "main"'],
    ['eq number', 'path: args.x, op: eq, value: 5', 'args.x == 5'],
    ['neq text', 'path: args.x, op: neq, value: draft', 'args.x != "draft"'],
    [
      'neq a text that Go prints for another type',
      'path: args.x, op: neq, value: "5"',
      'args.x.startsWith("") && args.x != "5"',
    ],
    [
      'neq number: a string is not decided',
      'path: args.x, op: neq, value: 5',
      '(args.x < 5 || args.x > 5)',
    ],
    ['neq boolean', 'path: args.x, op: neq, value: true', '"!args.x"'],
    ['in numbers', 'path: args.x, op: in, value: [1, 2]', 'args.x in [1, 2]'],
    ['in a mixed list', 'path: args.x, op: in, value: [1, a]', '(args.x == 1 || args.x == "a")'],
    ['not_in', 'path: args.x, op: not_in, value: [a, b]', '"!(args.x in [\\"a\\", \\"b\\"])"'],
    ['not_in nothing', 'path: args.x, op: not_in, value: []', 'has(args.x)'],
    ['gte', 'path: args.x, op: gte, value: -1.5', 'args.x >= -1.5'],
    ['regex', "path: args.x, op: regex, value: '^\\d+$'", 'args.x.matches("^\\\\d+$")'],
    ['contains', 'path: args.x, op: contains, value: b', 'args.x.contains("b")'],
    ['contains a number', 'path: args.x, op: contains, value: 5', 'args.x.exists(x, x == 5)'],
    [
      'exists',
      'path: args.a.b, op: exists, value: true',
      'has(args.a) && has(args.a.b) && args.a.b != null',
    ],
    [
      'exists false',
      'path: args.a.b, op: exists, value: false',
      '(!has(args.a) || !has(args.a.b) || args.a.b == null)',
    ],
    ['a name CEL cannot spell', 'path: args.x-y.in, op: eq, value: a', 'args["x-y"]["in"] == "a"'],
  ])('condition: %s', (_, condition, when) => {
    expect(rulesOf(oneCondition(condition))).toContain(`\n    when: ${when}\n`)
  })

  it.each([
    ['lt lets one less through', 'state.pay.n, op: lt, value: 10', '', 'max: 9'],
    ['an increment divides', 'state.pay.n, op: lte, value: 10', ', increment: 3', 'max: 3'],
    ['more than a rate limit takes', 'state.pay.n, op: lte, value: 99999999', '', 'max: 1000000'],
  ])('limit: %s', (_, path, increment, max) => {
    const state = `state: { counter: n, window: minute${increment} }`
    expect(rulesOf(oneRule(`conditions: [{ path: ${path} }], ${state}`))).toContain(
      `{ ${max}, window: 1m, per: everyone }`,
    )
  })

  it('denies where not one call fits the limit, or nothing can be in the list', () => {
    const limit =
      'conditions: [{ path: state.pay.n, op: lt, value: 1 }], state: { counter: n, window: day }'
    expect(rulesOf(oneRule(limit))).toBe('tools:\n  shop/pay:\n    action: deny\n    reason: a\n')
    expect(rulesOf(oneCondition('path: args.x, op: in, value: []'))).toContain('action: deny')
  })

  it('holds a limit that the original never counts', () => {
    const text = intercept(`
  pay:
    rules:
      - { name: count, conditions: [{ path: args.x, op: exists, value: true }], state: { counter: n, window: hour } }
      - { name: cap, conditions: [{ path: state.pay.n, op: lte, value: 3 }] }
`)
    expect(rulesOf(text)).toContain('rate_limit: { max: 3, window: 1h, per: everyone }')
    expect(listProblems(text, 'warnings')).toContain('8:43 IMPORT_NEVER_COUNTED')
  })

  it.each([
    ['a calendar window', oneRule('rate_limit: 5/hour'), '5:36 IMPORT_CALENDAR_WINDOW'],
    [
      '`*` that rescues nothing',
      intercept('  "*": { rules: [] }\n'),
      '4:3 IMPORT_WILDCARD_NO_RESCUE',
    ],
    [
      'a counter shared by all of its processes',
      intercept('  "*": { rules: [{ name: a, rate_limit: 5/hour }] }\n'),
      '4:41 IMPORT_SHARED_COUNTER',
    ],
    [
      'text that equals a number',
      oneCondition('path: args.x, op: eq, value: 5'),
      '5:68 IMPORT_LOOSE_TYPES',
    ],
    [
      'another type that passes',
      oneCondition('path: args.x, op: neq, value: 5'),
      '5:69 IMPORT_TYPE_PASSES',
    ],
    [
      'rules beside one that always denies',
      intercept('  pay: { rules: [{ name: a, action: deny }, { name: b, rate_limit: 5/hour }] }\n'),
      '4:3 IMPORT_UNREACHABLE',
    ],
    [
      'rules of a hidden tool',
      'version: "1"\ndefault: deny\nhide: [pay]\ntools: { pay: { rules: [] } }\n',
      '4:10 IMPORT_UNREACHABLE',
    ],
    [
      'a rule without a name',
      intercept('  pay: { rules: [{ rate_limit: 5/hour }] }\n'),
      '4:18 IMPORT_UNNAMED',
    ],
    ['an approval', oneRule('action: require_approval'), '5:13 IMPORT_APPROVAL'],
  ])('warns of %s', (_, text, warning) => {
    expect(listProblems(text, 'warnings')).toContain(warning)
    expect(listProblems(text, 'errors')).toEqual([])
  })

  it.each([
    [
      'a misspelt key, which the original ignores',
      'version: "1"\ndefualt: deny\ntools: {}\n',
      '2:1 IMPORT_UNKNOWN_KEY',
    ],
    ['another version', 'version: "2"\ntools: { a: { rules: [] } }\n', '1:1 IMPORT_VERSION'],
    [
      'an unknown operator',
      oneCondition('path: args.x, op: like, value: a'),
      '5:57 IMPORT_OPERATOR',
    ],
    ['a path to nothing', oneCondition('path: user.x, op: eq, value: a'), '5:45 IMPORT_PATH'],
    [
      'a pattern that is not RE2',
      oneCondition("path: args.x, op: regex, value: '(?=a)'"),
      '5:71 IMPORT_PATTERN',
    ],
    [
      'a list compared as text',
      oneCondition('path: args.x, op: eq, value: [a]'),
      '5:68 IMPORT_VALUE',
    ],
    [
      'a number no double holds',
      oneCondition('path: args.x, op: lte, value: 9007199254740993'),
      '5:69 IMPORT_VALUE',
    ],
    [
      'a bare word that Go reads as a time',
      oneCondition('path: args.x, op: neq, value: 2024-01-02'),
      '5:69 IMPORT_AMBIGUOUS',
    ],
    [
      'an octal number',
      oneCondition('path: args.x, op: lte, value: 0100'),
      '5:69 IMPORT_AMBIGUOUS',
    ],
    [
      'a counter of another tool',
      oneCondition('path: state.post.n, op: lte, value: 1'),
      '5:45 IMPORT_STATE',
    ],
    [
      'a counter that must be large',
      oneRule(
        'conditions: [{ path: state.pay.n, op: gt, value: 1 }], state: { counter: n, window: day }',
      ),
      '5:45 IMPORT_STATE',
    ],
    [
      'a counter without a limit',
      oneRule(
        'conditions: [{ path: args.x, op: eq, value: a }], state: { counter: n, window: day }',
      ),
      '5:74 IMPORT_NO_LIMIT',
    ],
    [
      'an increment that gives budget back',
      oneRule(
        'conditions: [{ path: state.pay.n, op: lte, value: 1 }], state: { counter: n, window: day, increment: -1 }',
      ),
      '5:45 IMPORT_LIMIT',
    ],
    [
      'a tool name that looks like a glob',
      intercept('  pay_*: { rules: [] }\n'),
      '4:3 IMPORT_NAME',
    ],
    [
      'a rate limit beside conditions',
      oneRule('rate_limit: 5/hour, conditions: [{ path: args.x, op: eq, value: a }]'),
      '5:24 IMPORT_INVALID',
    ],
    [
      'two counters of one name',
      intercept(
        '  pay: { rules: [{ name: a, rate_limit: 5/hour }, { name: b, rate_limit: 9/hour }] }\n',
      ),
      '4:74 IMPORT_INVALID',
    ],
    ['a doubled key', 'version: "1"\nversion: "1"\n', '2:1 DOCUMENT_DOUBLED_KEY'],
    ['a policy of our own', 'version: 1\ndefault: deny\nguardrails: []\n', '1:1 IMPORT_FORMAT'],
    ['a list', '- a\n', '1:1 IMPORT_FORMAT'],
    [
      'a list of values too long for one expression',
      oneCondition(
        `path: args.x, op: in, value: [${Array.from({ length: 500 }, (_, i) => `v${i}`)}]`,
      ),
      '4:3 IMPORT_TOO_LARGE',
    ],
  ])('refuses %s', (_, text, error) => {
    expect(listProblems(text, 'errors')).toEqual([error])
  })

  it('keeps a tool shut whose rules need a person, and the rest as it is', () => {
    const text = intercept(
      '  look: { rules: [] }\n  pay: { rules: [{ name: a, conditions: [{ path: args.x, op: like, value: a }] }] }\n',
    )
    const { yaml } = importPolicy(text, options)
    expect(yaml).toContain('shop/look: allow')
    expect(yaml).toContain('shop/pay:\n    action: deny')
    expect(yaml).toContain('# NOT COMPLETE: 1 errors')
  })

  it('a foreign comment, description, name or reason cannot write rules', () => {
    const evil = 'x\\rdefault: allow\\u2028tools: {}\\nevil'
    const text = `version: "1"\ndescription: "${evil}"\ndefault: deny\ntools:\n  pay:\n    rules: [{ name: "${evil}", action: deny, on_deny: "${evil}" }]\n`
    const { yaml } = importPolicy(text, { file: 'a\nb: c', server: 'shop' })
    expect(compile({ file: 'ours.yaml', text: yaml }).problems).toEqual([])
    expect(yaml.split(/[\n\r]/).filter((line) => /^\s*(default|tools|b):/.test(line))).toEqual([
      'default: deny',
      'tools:',
    ])
  })

  it('refuses more than a megabyte, and more guardrails than there may be', () => {
    const crowd = (line: (index: number) => string) => {
      let text = 'version: "1"\ntools:\n  pay:\n    rules:\n'
      for (let index = 0; text.length < 200_000; index++) text += line(index)
      return text
    }
    expect(listProblems(`${'x'.repeat(1_048_577)}`, 'errors')).toEqual(['1:1 DOCUMENT_TOO_LARGE'])
    const rules = crowd(
      (index) =>
        `      - { name: a, conditions: [{ path: state.pay.c${index}, op: lte, value: 1 }], state: { counter: c${index}, window: day } }\n`,
    )
    expect(importPolicy(rules, options).errors.at(-1)?.code).toBe('IMPORT_TOO_LARGE')
    const faults = crowd(() => '      - { name: a, conditions: [{ path: x, op: eq, value: 1 }] }\n')
    expect(importPolicy(faults, options).errors.length).toBeGreaterThan(2_000)
  })

  it('refuses what is not YAML', () => {
    const { yaml, errors } = importPolicy('version: "1\n', options)
    expect([yaml, errors.map(({ code }) => code)]).toEqual(['', ['DOCUMENT_SYNTAX']])
  })

  it('refuses a name of a server that would be a glob', () => {
    expect(importPolicy('version: "1"\n', { file: 'f', server: 'a*' }).errors[0]?.code).toBe(
      'IMPORT_SERVER',
    )
  })
})
