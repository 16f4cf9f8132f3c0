// What a page says of a tool beyond its definition: how agents use such a tool, what to do about it, and
// what an agent receives whose call is denied. By class, with the tool's own names. Pure.

import type { Category } from '@sluice/policy/core/tools'

/** How agents come to call it. */
export const USED: Readonly<Record<Category, string>> = {
  Read: 'An agent calls it to find out something before it acts, often many times in a task and mostly unasked.',
  Write:
    'An agent calls it to put its work where others see it: mostly once or twice at the end of a task, in a loop where something goes wrong.',
  Execute:
    'An agent calls it to make something happen and then looks at what came of it; what it runs next depends on that answer.',
  Destructive:
    'An agent calls it to clean up or to begin anew, mostly as a step that nobody asked for by name.',
  Financial:
    'An agent calls it to carry out a purchase, a payment or a trade as the last step of a task.',
}

/** Where the labels of the tool at hand stand in its advice. */
export const LABELS = '{labels}'

export const ADVICE: Readonly<Record<Category, readonly string[]>> = {
  Read: [
    'Allow it; a limit keeps one session from reading everything.',
    `Label what it brings in (${LABELS}), so that guardrails can hold what leaves afterwards.`,
    'Let a person approve it where it reads secrets.',
  ],
  Write: [
    'Allow it at a pace that a person could work at.',
    'Bind what it may touch by its arguments (`when`), not by trust in the agent.',
    'Let a person approve it once the session has read untrusted text.',
  ],
  Execute: [
    'Let a person approve it, until you know what your agents run.',
    'Where an argument says what is run, allow the few values you know and ask for the rest.',
    'Give its server no more rights than the task needs: the gate does not see what runs behind it.',
  ],
  Destructive: [
    'Let a person approve every call, and few in a minute.',
    'Where the server has a way to archive, allow that and hide this.',
    'Keep a backup that the same agent cannot reach.',
  ],
  Financial: [
    'Let a person approve every call, and name who may (`approvers`).',
    'Limit the sum over time (`spend_limit`) where an argument is the amount.',
    'Use an account of its own for agents, with a limit at the bank or exchange as well.',
  ],
}

/** The four ways to rule a tool, each as the lines below its name. */
export const WAYS: readonly (readonly [name: string, says: string, rule: readonly string[]])[] = [
  ['Allow', 'every call passes', ['action: allow']],
  [
    'Limit',
    'so many calls in a time, for each session unless `per` says otherwise',
    ['action: allow', 'rate_limit: { max: 10, window: 60 }'],
  ],
  ['Approve', 'a person decides on each call before it leaves', ['action: require_approval']],
  [
    'Deny',
    'no call passes and the agent is told why; `hide` takes it from the list as well',
    ['action: deny', 'reason: not for agents'],
  ],
]

/** As the gate answers a call that a rule denies. */
export function denialOf(reason: string): string {
  const denial = { decision: 'deny', code: 'DENIED', reason, callId: '…' }
  const answer = {
    content: [{ type: 'text', text: `denied by policy: ${reason}` }],
    isError: true,
    structuredContent: { sluice: denial },
  }
  return JSON.stringify(answer, null, 2)
}
