// Comparisons that look safe and are not: text tests on what is a path or URL, and tests on an
// agent that may be null. Each is a warning with the better line.

import { childrenOf, type Node } from './cel.ts'
import type { PolicyErrorCode } from './errors.ts'
import type { Expression } from './expression.ts'

export interface WeakTest {
  readonly code: PolicyErrorCode
  readonly at: number
  readonly message: string
  readonly help: string
}

const PATH_NAME = /(^|_|[a-z])(path|file|dir|directory|folder|filename)s?$/i
const URL_NAME = /(^|_|[a-z])(url|uri|href|link|endpoint|host)s?$/i
const TEXT_TESTS = new Set(['startsWith', 'contains', 'endsWith'])

export function weakTests(expression: Expression): WeakTest[] {
  const found: WeakTest[] = []
  let asksForAgent = false
  const textTest = (subject: Node, value: Node, at: number, test: string) => {
    const slot = expression.slotOf.get(subject)?.slot
    const name = slot?.root === 'args' ? slot.path.at(-1) : undefined
    if (name === undefined || value.op !== 'value' || typeof value.args !== 'string') return
    const argument = expression.text.slice(subject.start, subject.end)
    const better = PATH_NAME.test(name)
      ? `path(${argument}).within("${value.args}")`
      : URL_NAME.test(name)
        ? `url(${argument}).host == "${value.args.replace(/^[a-z]+:\/\//, '').replace(/\/.*$/, '')}"`
        : undefined
    if (better !== undefined)
      found.push({ code: 'POLICY_WEAK_TEST', at, message: `\`${test}\` on \`${argument}\` is passed by \`..\`, \`%2e\` or another spelling`, help: `write \`${better}\`` })
  }
  const visit = (node: Node): void => {
    if (node.op === 'rcall' && TEXT_TESTS.has(node.args[0]) && node.args[2][0] !== undefined)
      textTest(node.args[1], node.args[2][0], node.start, node.args[0])
    if (node.op === '==' || node.op === '!=') {
      const [left, right] = node.args
      textTest(left, right, node.start, node.op)
      if ([left, right].some((side) => side.op === 'id' && side.args === 'agent')) asksForAgent = true
    }
    for (const child of childrenOf(node)) visit(child)
  }
  visit(expression.ast)
  const agent = expression.slots.find((slot) => slot.root === 'agent' && slot.path.length > 0)
  if (agent !== undefined && !asksForAgent)
    found.push({ code: 'POLICY_AGENT_NULL', at: agent.at, message: `\`agent.${agent.path[0]}\` cannot be decided for a call that no agent makes`, help: 'write `agent != null && …`, or `agent == null || …`' })
  return found
}
