// Refunds: small ones pass within a daily budget, large ones wait for a person, negative ones are denied.

import { deepStrictEqual, match } from 'node:assert'
import { withGate } from '../support/gate.ts'

const policy = `
version: 1
default: deny
tools:
  shop/create_refund:
    action: allow
    when: args.amount <= 5000
    otherwise: require_approval
    reason: refunds above 50.00 need a person
    approval: { wait: 1s }
    spend_limit: { amount: args.amount, max: 12000, window: 1d, per: principal }
`

await withGate({ policy }, async (gate) => {
  const shop = await gate.connect('shop')
  const refund = (amount: number) => shop.call('create_refund', { amount })

  // Nobody decides here, so the client is told how to come back. What is held takes nothing.
  const large = await refund(9900)
  deepStrictEqual(large.code, 'APPROVAL_PENDING')
  match(large.text, /refunds above 50.00 need a person/)

  deepStrictEqual(await refund(5000), { text: 'create_refund: 5000', code: undefined })
  deepStrictEqual((await refund(5000)).code, undefined)
  const third = await refund(5000)
  deepStrictEqual(third.code, 'SPEND_LIMITED')
  match(third.text, /2000 left/)
  deepStrictEqual((await refund(2000)).code, undefined)
  deepStrictEqual((await refund(-300)).code, 'DENIED')
})
