// The spellings of PolicyLayer's pages, and hosted documents with `scope`, `conditions` and `on_deny`:
// the same verdicts, or a warning that names the difference.

import { describe, expect, it } from 'vitest'
import { importPolicy } from './import-policy.ts'
import { listProblems, options, rulesOf } from './look.test-support.ts'

describe('as the pages describe it', () => {
  it('takes bare names, a rate limit alone, and the words for actions', () => {
    const text = `
tools:
  look: allow
  export:
    rate_limit: { max: 10, window: 60 }
  send: { rate_limit: 5/hour, action: require_approval }
  shop/pay: { action: allow, rate_limit: { max: 2, window: 1d } }
  drop: { action: deny, reason: not by an agent }
  wipe: hide
`
    expect(rulesOf(text)).toBe(`tools:
  shop/look: allow
  shop/export:
    action: allow
    rate_limit: { max: 10, window: 60, per: session }
  shop/send:
    action: require_approval
    rate_limit: { max: 5, window: 3600, per: session }
  shop/pay:
    action: allow
    rate_limit: { max: 2, window: 86400, per: session }
  shop/drop:
    action: deny
    reason: not by an agent
  shop/wipe: hide
`)
    expect(listProblems(text, 'warnings')).toEqual([
      expect.stringContaining('IMPORT_PAGES_DEFAULT'),
    ])
  })

  it.each([
    ['tools: { a: { rate_limit: { max: 10 } } }', 'IMPORT_LIMIT'],
    ['tools: { a: { rate_limit: { max: 0, window: 60 } } }', 'IMPORT_LIMIT'],
    ['tools: { a: { rate_limit: { max: 1.5, window: 60 } } }', 'IMPORT_LIMIT'],
    ['tools: { a: { rate_limit: { max: 1, window: 9999999 } } }', 'IMPORT_LIMIT'],
    ['tools: { a: { action: perhaps } }', 'IMPORT_INVALID'],
    ['tools: { a: { action: deny, when: x } }', 'IMPORT_UNKNOWN_KEY'],
    ['tools: { "a*": deny }', 'IMPORT_NAME'],
    ['tools: { a: deny, b: { rules: [] } }', 'IMPORT_FORMAT'],
  ])('refuses %s', (text, code) => {
    expect(listProblems(text, 'errors')).toEqual([expect.stringContaining(code)])
  })

  it('keeps a tool with an error shut, also if other tools are allowed', () => {
    for (const tool of ['{ action: perhaps }', '{ rate_limit: 5/constructor }', 'constructor']) {
      const { yaml, errors } = importPolicy(`default: allow\ntools: { a: ${tool} }`, options)
      expect(errors.length).toBe(1)
      expect(yaml).toContain('shop/a:\n    action: deny\n')
    }
  })

  it('says that a limit beside a denial changes nothing', () => {
    const text = 'default: deny\ntools: { a: { action: deny, rate_limit: { max: 1, window: 1 } } }'
    expect(rulesOf(text)).toBe('tools:\n  shop/a: deny\n')
    expect(listProblems(text, 'warnings').join()).toContain('IMPORT_UNREACHABLE')
  })
})

describe('hosted JSON with scope, conditions and on_deny', () => {
  const document = (tool: object) =>
    JSON.stringify({ version: '1', default: 'deny', tools: { pay: tool } })

  it('counts by scope, and holds all conditions together', () => {
    const text = document({
      deny_if: [
        {
          conditions: [
            { path: 'args.amount', op: 'gt', value: 100 },
            { path: 'args.currency', op: 'eq', value: 'EUR' },
          ],
          on_deny: 'too much',
        },
      ],
      limits: [{ scope: 'session', window: 'minute', max: 3, on_deny: 'slow down' }],
    })
    const rules = rulesOf(text)
    expect(rules).toContain('args.amount > 100 && ')
    expect(rules).toContain('args.currency == "EUR"')
    expect(rules).toContain('reason: too much')
    expect(rules).toContain('rate_limit: { max: 3, window: 1m, per: session }')
    expect(rules).toContain('reason: slow down')
  })

  it('keeps a denial without conditions, beside other rules too', () => {
    const always = { conditions: [], on_deny: 'Requires human approval.' }
    const deny = 'tools:\n  shop/pay:\n    action: deny\n    reason: Requires human approval.\n'
    expect(rulesOf(document({ deny_if: [always] }))).toBe(deny)
    const limits = [{ window: 'day', max: 1 }]
    expect(rulesOf(document({ deny_if: [always], limits }))).toBe(deny)
    expect(rulesOf(document({ deny_if: [always], rate_limit: { max: 2, window: 60 } }))).toContain(
      'action: deny\n    reason: Requires human approval.',
    )
    expect(listProblems(document({ deny_if: [always] }), 'errors')).toEqual([])
  })

  it('denies every tool if the rules for all of them have an error', () => {
    const all_tools = { limits: [], limit: [] }
    const text = JSON.stringify({ version: '1', default: 'allow', all_tools, tools: { pay: {} } })
    const { yaml, errors } = importPolicy(text, options)
    expect(errors.map(({ code }) => code)).toEqual(['IMPORT_UNKNOWN_KEY'])
    expect(yaml).toContain('match: { tools: [ shop/* ] }\n    action: deny\n')
  })

  it('advises no edit that opens a tool', () => {
    const { yaml, errors } = importPolicy(document({ require: [{ conditions: [] }] }), options)
    expect(errors.map(({ help }) => help)).toEqual([
      'write the condition that was meant; until then the import denies the tool',
    ])
    expect(yaml).toContain('shop/pay:\n    action: deny')
  })

  it('takes the words of the pages for some tools, and beside its own rules', () => {
    const text = JSON.stringify({
      version: '1',
      default: 'deny',
      tools: {
        look: {},
        export: { rate_limit: { max: 10, window: 60 } },
        drop: { action: 'deny', reason: 'not by an agent' },
        wipe: 'hide',
        pay: {
          rate_limit: { max: 2, window: 60 },
          deny_if: [{ path: 'args.amount', op: 'gt', value: 100 }],
        },
        gone: { action: 'deny', limits: [{ window: 'day', max: 1 }] },
      },
    })
    expect(rulesOf(text)).toBe(`tools:
  shop/look: allow
  shop/export:
    action: allow
    rate_limit: { max: 10, window: 60, per: session }
  shop/drop:
    action: deny
    reason: not by an agent
  shop/wipe: hide
  shop/pay:
    action: allow
    rate_limit: { max: 2, window: 60, per: session }
  shop/gone: deny
guardrails:
  - name: "pay: deny_if 1"
    match: { tools: [ shop/pay ] }
    action: deny
    when: has(args.amount) && args.amount > 100
    extra_args: allow
`)
    expect(listProblems(text, 'errors')).toEqual([])
    expect(listProblems(text, 'warnings').join()).toContain('IMPORT_UNREACHABLE')
    const odd = document({ action: 'perhaps', limits: [] })
    expect(listProblems(odd, 'errors').join()).toContain('IMPORT_INVALID')
  })

  it('names what it counts differently, and refuses what it cannot mean', () => {
    const conditions = [{ path: 'args.a', op: 'eq', value: 1 }]
    const limit = { scope: 'grant', window: 'day', max: 1 }
    expect(
      listProblems(document({ limits: [{ ...limit, conditions }] }), 'warnings').join(),
    ).toContain('IMPORT_LIMIT_CONDITIONS')
    for (const tool of [
      { limits: [{ ...limit, scope: 'galaxy' }] },
      { require: [{ conditions: [] }] },
      { deny_if: [{ path: 'args.a', op: 'eq', value: 1, conditions }] },
    ])
      expect(listProblems(document(tool), 'errors').length).toBeGreaterThan(0)
  })
})
