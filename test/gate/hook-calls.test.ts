// The life of a call that came by a hook: what an approval of it is bound to, how it ends, and what becomes
// of one whose end never comes or comes without it.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hashGrantToken, makeToken } from '../../packages/sluice/src/identity/callers/grant.ts'
import { ADA, endOwnGates, type OwnGate, ownGate } from '../support/own-gate.ts'
import { sluiceJson } from '../support/run-sluice.ts'

const TOKEN = makeToken()
const CONFIG = {
  ledger: { record: 'judged' },
  grants: {
    claude: {
      hash: `sha256:${hashGrantToken(TOKEN)?.toString('hex')}`,
      policy: 'policy',
      prompt: true,
      hooks: 'claude-code',
    },
  },
}
const SERVERS = { 'claude-code': { builtin: 'claude-code' } } as const
const POLICY = `
version: 1
default: deny
categories: { Read: allow, Write: allow }
tools:
  "*/Bash":
    action: allow
    when: 'args.command.startsWith("echo")'
    otherwise: require_approval
    approval: { wait: 1s }
`

let gate: OwnGate
let calls = 0

// biome-ignore lint/suspicious/noExplicitAny: taken apart by the tests
async function post(body: unknown): Promise<any> {
  const response = await fetch(`${gate.url}/hooks/claude-code`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` },
    body: JSON.stringify(body),
  })
  expect(response.status).toBe(200)
  return response.json()
}

/** What Claude Code sends before it runs a line; the model words what it says beside it differently each time. */
function pre(command: string, more: object = {}) {
  const time = ++calls
  return {
    session_id: 's0',
    transcript_path: '/t.jsonl',
    cwd: '/srv/app',
    permission_mode: 'default',
    hook_event_name: 'PreToolUse',
    tool_name: 'Bash',
    tool_input: { command, description: `Words of time ${time}`, timeout: 60_000 + time },
    tool_use_id: `toolu_${time}`,
    ...more,
  }
}

function ended(asked: object, tool_response: unknown, more: object = {}) {
  return { ...asked, hook_event_name: 'PostToolUse', tool_response, ...more }
}

const reasonOf = (body: { hookSpecificOutput?: { permissionDecisionReason?: string } }) =>
  body.hookSpecificOutput?.permissionDecisionReason

beforeAll(async () => {
  gate = await ownGate({ servers: SERVERS, policy: POLICY, config: CONFIG })
}, 60_000)
afterAll(() => endOwnGates())

describe('an approval of a command line', () => {
  const approve = async (line: string, more: object = {}) => {
    expect(reasonOf(await post(pre(line)))).toContain('waiting for approval')
    const requests = await gate.approvals.list()
    const found = requests.filter(({ command }) => command?.line === line)
    expect(found).toHaveLength(1)
    await gate.approvals.decide(found[0]!.id, { verdict: 'approve', ...more }, ADA, 'console')
  }

  test('is used by the same line in other words of the model', async () => {
    await approve('rm -rf build')
    expect(await post(pre('rm -rf build'))).toEqual({})
  })

  test('for a while lets the same line run each time, and no other line', async () => {
    await approve('git push', { forAWhile: { forMs: 600_000 } })
    for (let time = 0; time < 6; time++) {
      const asked = pre('git push')
      expect(await post(asked)).toEqual({})
      expect(await post(ended(asked, { stdout: 'pushed' }))).toEqual({})
    }
    expect(reasonOf(await post(pre('git push --force')))).toContain('waiting for approval')
    expect(reasonOf(await post(pre('git push', { cwd: '/srv/other' })))).toContain(
      'waiting for approval',
    )
  })
})
