// `last(...)` against the known tools: what `policy check --tools` says of it.

import { expect, test } from 'vitest'
import type { KnownTool } from '../calls/tools.ts'
import type { JsonObject } from '../values/json.ts'
import { compile } from './compile.ts'

const TEXT = { type: 'string' }
const tool = (name: string, properties: JsonObject, more: object = {}): KnownTool => ({
  definition: {
    server: 'shop',
    name,
    inputSchema: { type: 'object', properties, additionalProperties: false, required: ['order'] },
    ...more,
  },
  category: 'Write',
  risk: 'low',
})
const outputSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    id: TEXT,
    total: { type: 'number' },
    customer: { type: 'object', additionalProperties: false, properties: { email: TEXT } },
  },
}
const TOOLS = [
  tool('get_order', { order: TEXT, currency: TEXT }, { outputSchema }),
  tool('pay', { order: TEXT, amount: { type: 'number' } }),
  tool('hidden', { order: TEXT }),
]

function check(rule: object): string[] {
  const tools = {
    'shop/get_order': 'allow',
    'shop/hidden': 'deny',
    'shop/pay': { action: 'allow', ...rule },
  }
  const text = JSON.stringify({ version: 1, default: 'deny', tools })
  return compile({ file: 'p', text }, { tools: TOOLS }).problems.map(
    ({ severity, message, help }) => `${severity}: ${message}; ${help}`,
  )
}

const when = (read: string) => check({ when: `args.amount <= ${read}` })

test.each([
  ['last("shop/get_order", "order", args.order).total', []],
  ['last("shop/get_order", "order", args.order, "currency", "EUR").customer.email', []],
  [
    'last("shop/get_ordr", "order", args.order).total',
    ['error: no known tool matches `shop/get_ordr`; did you mean `shop/get_order`?'],
  ],
  [
    'last("shop/get_order", "ordr", args.order).total',
    ['error: `shop/get_order` declares no argument `ordr`; did you mean `order`?'],
  ],
  [
    'last("shop/get_order", "currency", "EUR").total',
    [
      'error: no call of `shop/get_order` has only these arguments: it requires `order`; name it in `last` too, with its value',
    ],
  ],
  [
    'last("shop/get_order", "order", args.order).totl',
    ['error: the answers of `shop/get_order` have no `totl`; did you mean `total`?'],
  ],
  [
    'last("shop/get_order", "order", args.order).customer.name',
    ['error: the answers of `shop/get_order` have no `customer.name`; it has `email`'],
  ],
  [
    'last("shop/hidden", "order", args.order).total',
    [
      'error: the policy lets nobody call `shop/hidden`, so that no answer of it is known; allow it, or take the condition away: the reason of a denial would name the tool',
    ],
  ],
  [
    'last("shop/get_order", "order", args.ordr).total',
    ['error: in `when`: the tool declares no `args.ordr`; did you mean `args.order`?'],
  ],
])('%s', (read, problems) => {
  expect(when(read)).toEqual(problems)
})

test('a maximum for each id, in whatever spelling, is a warning', () => {
  const read = 'last("shop/get_order", "order", args.order)'
  const spend_limit = {
    amount: 'args.amount',
    max: `${read}.total`,
    window: '1d',
    per: 'args.order',
  }
  expect(check({ spend_limit })).toEqual([
    `warning: another spelling of the same id has a counter of its own, if \`shop/get_order\` answers for both; compare the id in the answer: \`when: ${read}.id == …\``,
  ])
  expect(check({ spend_limit, when: `${read}.id == args.order` })).toEqual([])
  expect(
    check({
      spend_limit: { ...spend_limit, max: `${read}.totl` },
      when: `${read}.id == args.order`,
    }),
  ).toEqual(['error: the answers of `shop/get_order` have no `totl`; did you mean `total`?'])
})
