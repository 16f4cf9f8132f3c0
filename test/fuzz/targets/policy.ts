// Policy documents: whatever the text, the compiler answers with a policy or with problems that have a
// place, and a policy that compiles decides every call without throwing.

import { sampleFacts } from '@sluice/policy/cases/sample-facts'
import { compile } from '@sluice/policy/compile/compile'
import { MemoryCounters } from '@sluice/policy/counters/memory-counters'
import { decide } from '@sluice/policy/decide/decide'

export const seeds = [
  'version: 1\ndefault: deny\ncategories: { Read: allow }\n',
  `version: 1
default: allow
tools:
  pay/refund:
    action: require_approval
    when: args.amount > 50 && args.to.startsWith("a")
    rate_limit: [{ max: 3, window: 1m, per: session }]
    spend_limit: { amount: args.amount, max: 100.5, window: 1h }
guardrails:
  - name: private
    when: session.saw.private
    action: deny
`,
]

const CALL = { server: 'pay', method: 'tools/call', name: 'refund', args: { amount: 7, to: 'ab' } }
const DEFINITION = { server: 'pay', name: 'refund' }
const FACTS = sampleFacts({ definition: DEFINITION, category: 'Write', risk: 'low' })
const ACTIONS = ['allow', 'deny', 'hide', 'require_approval']

export function run(input: Buffer): void {
  const { policy, problems } = compile({ file: 'policy.yaml', text: input.toString('utf8') })
  for (const { message } of problems)
    if (typeof message !== 'string' || message === '')
      throw new Error('a problem without a message')
  if (policy === undefined) {
    if (problems.length === 0) throw new Error('neither a policy nor a problem')
    return
  }
  const { action } = decide(policy, CALL, FACTS, new MemoryCounters(), {
    wallMs: 1_800_000_000_000,
    monotonicMs: 1_000,
  })
  if (!ACTIONS.includes(action)) throw new Error(`the action \`${action}\``)
}
