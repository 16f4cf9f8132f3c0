// The policy engine without a gate: `@sluice/policy` inside a program of your own.

import { deepStrictEqual } from 'node:assert'
import { compile, evaluate, MemoryCounters } from '@sluice/policy'

const { policy, problems } = compile({
  file: 'policy.yaml',
  text: `
version: 1
default: deny
categories: { Read: allow }
tools:
  shop/create_refund:
    action: allow
    when: args.amount <= 50
    otherwise: require_approval
    rate_limit: { max: 2, window: 1h, per: principal }
`,
})
if (policy === undefined) throw new Error(problems.map(({ message }) => message).join('\n'))

const counters = new MemoryCounters()
const decide = (id: string, amount: number): string => {
  const call = { tool: 'shop/create_refund', args: { amount }, principal: { id } }
  return evaluate(policy, call, { counters, now: Date.now() }).code
}
deepStrictEqual(
  [decide('ann', 20), decide('ann', 90), decide('ann', 20), decide('ann', 20), decide('ben', 20)],
  ['ALLOWED', 'APPROVAL_REQUIRED', 'ALLOWED', 'RATE_LIMITED', 'ALLOWED'],
)
deepStrictEqual(evaluate(policy, { tool: 'shop/list_orders', category: 'Read' }).action, 'allow')
deepStrictEqual(evaluate(policy, { tool: 'shop/delete_customer' }).action, 'deny')
