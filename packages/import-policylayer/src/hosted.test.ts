// Hosted documents and what becomes of them: the text that is written, and every warning and error
// with its place. The samples are our own.

import { describe, expect, it } from 'vitest'
import { ERRORS } from './errors.ts'
import { importPolicy } from './import-policy.ts'
import { listProblems, options, rulesOf } from './look.test-support.ts'

describe('hosted JSON', () => {
  it('becomes rules and guardrails, limits by principal', () => {
    const text = JSON.stringify({
      version: '1',
      default: 'deny',
      hide: ['drop'],
      all_tools: { limits: [{ window: 'minute', max: 30 }] },
      tools: {
        look: {},
        pay: {
          require: [{ path: 'args.reason', op: 'exists', value: true }],
          deny_if: [{ path: 'args.amount', op: 'gt', value: 10000, message: 'too much' }],
          limits: [{ counter: 'spend', window: 'day', max: 50000, increment_from: 'args.amount' }],
        },
        post: { deny_if: [{ path: 'args.force', op: 'eq', value: true }] },
      },
    })
    expect(rulesOf(text)).toBe(`tools:
  shop/drop: hide
  shop/look: allow
  shop/pay: allow
  shop/post: allow
guardrails:
  - name: "pay: require 1"
    match: { tools: [ shop/pay ] }
    action: deny
    when: "!(has(args.reason) && args.reason != null)"
    extra_args: allow
  - name: "pay: deny_if 1"
    match: { tools: [ shop/pay ] }
    action: deny
    when: has(args.amount) && args.amount > 10000
    extra_args: allow
    reason: too much
  - name: "pay: spend"
    match: { tools: [ shop/pay ] }
    action: deny
    when: "!(args.amount >= 0)"
    extra_args: allow
  - name: "pay: spend, limit"
    match: { tools: [ shop/pay ] }
    spend_limit: { amount: args.amount, max: 50000, window: 1d, per: principal }
  - name: "post: deny_if 1"
    match: { tools: [ shop/post ] }
    action: deny
    when: has(args.force) && args.force
    extra_args: allow
  - name: "all tools: limit 1"
    match: { tools: [ shop/* ] }
    rate_limit: { max: 30, window: 1m, per: principal }
`)
    expect(listProblems(text, 'warnings').map((line) => line.split(' ')[1])).toEqual(
      expect.arrayContaining([
        'IMPORT_HOSTED_READING',
        'IMPORT_CALENDAR_WINDOW',
        'IMPORT_MISSING_PASSES',
        'IMPORT_TYPE_PASSES',
        'IMPORT_AMOUNT',
        'IMPORT_HIDE',
      ]),
    )
  })

  it.each([
    [
      'a field nobody documented',
      { version: '1', default: 'deny', tools: { pay: { deny: true, limits: [] } } },
      'IMPORT_UNKNOWN_KEY',
    ],
    [
      'a window nobody documented',
      { version: '1', default: 'deny', tools: { pay: { limits: [{ window: 'week', max: 1 }] } } },
      'IMPORT_LIMIT',
    ],
    [
      'a limit without a number',
      { version: '1', default: 'deny', tools: { pay: { limits: [{ window: 'day' }] } } },
      'IMPORT_LIMIT',
    ],
    ['no default', { version: '1', tools: { pay: {} } }, 'IMPORT_INVALID'],
    [
      'both formats in one',
      { version: '1', default: 'deny', tools: { pay: { limits: [] }, look: { rules: [] } } },
      'IMPORT_FORMAT',
    ],
    [
      'a mixed list that would have to be compared as text',
      {
        version: '1',
        default: 'deny',
        tools: { pay: { deny_if: [{ path: 'args.x', op: 'in', value: [1, 'a'] }] } },
      },
      'IMPORT_VALUE',
    ],
  ])('refuses %s', (_, document, code) => {
    expect(
      importPolicy(JSON.stringify(document), options).errors.map((error) => error.code),
    ).toEqual([code])
  })
})

it('every code has a meaning', () => {
  for (const [code, meaning] of Object.entries(ERRORS))
    expect([code, meaning.length > 10]).toEqual([code, true])
})
