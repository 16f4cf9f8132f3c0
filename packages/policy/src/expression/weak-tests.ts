// Comparisons that look safe and are not: text comparisons of paths or URLs, and tests on an agent
// that may be null. Each is a warning with a better expression.

import type { PolicyErrorCode } from '../language/errors.ts'
import { type CelNode, listChildren } from './cel.ts'
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
  const tests: WeakTest[] = []
  let asksForAgent = false
  const visit = (node: CelNode): void => {
    for (const [subject, value, test] of textTests(node)) {
      const weak = weakTest(expression, subject, value, test)
      if (weak !== undefined) tests.push(weak)
    }
    if (
      (node.op === '==' || node.op === '!=') &&
      node.args.some((side) => side.op === 'id' && side.args === 'agent')
    )
      asksForAgent = true
    for (const child of listChildren(node)) visit(child)
  }
  visit(expression.ast)
  const agent = expression.variables.find(
    (variable) => variable.root === 'agent' && variable.path.length > 0,
  )
  if (agent !== undefined && !asksForAgent)
    tests.push({
      code: 'POLICY_AGENT_NULL',
      at: agent.at,
      message: `\`agent.${agent.path[0]}\` cannot be decided for a call that no agent makes`,
      help: 'write `agent != null && …`, or `agent == null || …`',
    })
  return tests
}

/** What is compared as text, with what, and how. */
function textTests(node: CelNode): (readonly [CelNode, CelNode, string])[] {
  if (node.op === 'rcall') {
    const [name, receiver, [value]] = node.args
    return TEXT_TESTS.has(name) && value !== undefined ? [[receiver, value, name]] : []
  }
  if (node.op !== '==' && node.op !== '!=') return []
  const [left, right] = node.args
  return [
    [left, right, node.op],
    [right, left, node.op],
  ]
}

function weakTest(
  expression: Expression,
  subject: CelNode,
  value: CelNode,
  test: string,
): WeakTest | undefined {
  const variable = expression.variableByNode.get(subject)?.variable
  const name = variable?.root === 'args' ? variable.path.at(-1) : undefined
  if (name === undefined || value.op !== 'value' || typeof value.args !== 'string') return undefined
  const argument = expression.text.slice(subject.start, subject.end)
  const message = `\`${argument}\` is tested as text by \`${test}\`, which another spelling of the same place passes`
  const help = betterTest(name, argument, value.args)
  return help === undefined
    ? undefined
    : { code: 'POLICY_WEAK_TEST', at: subject.start, message, help }
}

function betterTest(name: string, argument: string, value: string): string | undefined {
  if (PATH_NAME.test(name)) return `write \`path(${argument}).within("${value}")\``
  if (!URL_NAME.test(name)) return undefined
  const host = value.replace(/^[a-z]+:\/\//, '').replace(/\/.*$/s, '')
  return `write \`url(${argument}).host == "${host}"\``
}
