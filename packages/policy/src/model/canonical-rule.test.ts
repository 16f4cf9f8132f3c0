// Stored approvals are bound to the canonical text of the rule that required them: the texts below are those of
// released versions and never change. A new field of a rule may add to the text only if the rule has the field.

import { expect, test } from 'vitest'
import { compile } from '../compile/compile.ts'
import { DEFAULT_SAYS, listRuleTexts } from './canonical-rule.ts'

const POLICY = `
version: 1
default: require_approval
categories:
  Read: allow
  Write: { action: allow, rate_limit: { max: 30, window: 60 } }
tools:
  pay/refund:
    action: require_approval
    when: args.amount > 50
    otherwise: deny
    reason: large refunds
    extra_args: allow
    spend_limit: { amount: args.amount, max: 50000.5, window: 1d, per: principal }
    approval: { timeout: 10m, quorum: 2, approvers: [ann, finance], channels: [console] }
guardrails:
  - name: private stays in
    match: { categories: [Write, Destructive], tools: [mail/*], servers: [mail] }
    when: session.saw.private
    action: require_approval
`

const ANYONE =
  '{"timeoutMs":600000,"waitMs":25000,"approvers":[],"quorum":1,"channels":["console","terminal","webhook","email"],"separateDuties":false,"editArgs":false}'
const FINANCE =
  '{"timeoutMs":600000,"waitMs":25000,"approvers":["ann","finance"],"quorum":2,"channels":["console"],"separateDuties":false,"editArgs":false}'

test('finding: an update changes the canonical text of no rule, so that stored approvals stay good', () => {
  const { policy, problems } = compile({ file: 'policy.yaml', text: POLICY })
  expect(problems).toEqual([])
  expect(policy && listRuleTexts(policy)).toEqual([
    `["/categories/Read","allow","deny",[],null,"",[],${ANYONE},false]`,
    `["/categories/Write","allow","deny",[],null,"",["policy/categories/Write|rate|60000|session 30"],${ANYONE},false]`,
    `["/tools/pay~1refund","require_approval","deny",[],"args.amount > 50","large refunds",["policy/tools/pay~1refund|spend|86400000|principal of args.amount 50000.5"],${FINANCE},true]`,
    `["private stays in","require_approval",[["Destructive","Write"],["mail/*"],["mail"],null],"session.saw.private","",[],${ANYONE},false]`,
    DEFAULT_SAYS,
  ])
  expect(DEFAULT_SAYS).toBe('["default","require_approval"]')
})
