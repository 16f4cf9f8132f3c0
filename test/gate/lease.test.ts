// Approve once: a standing approval of command lines of a coding agent. What passes by it, what asks again, and what
// of it is on record; `npm run eval -- hooks --case lease` does it with Claude Code.

import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { StandingTerms } from '../../packages/access/src/approvals/approval.ts'
import { hashGrantToken, makeToken } from '../../packages/access/src/identity/callers/grant.ts'
import { ADA, endOwnGates, type OwnGate, ownGate } from '../support/own-gate.ts'
import { makePerson, PIN, type } from '../support/person.ts'
import { sluice, sluiceJson } from '../support/run-sluice.ts'

const TOKEN = makeToken()
const HASH = `sha256:${hashGrantToken(TOKEN)?.toString('hex')}`
const CONFIG = {
  grants: { claude: { hash: HASH, policy: 'policy', prompt: true, hooks: 'claude-code' } },
}
const POLICY = `
version: 1
default: deny
categories: { Read: allow, Write: allow, Execute: require_approval }
tools:
  "*/Bash": { action: require_approval, over: [Execute], approval: { wait: 1s } }
labels: { "*/WebFetch": [web] }
guardrails:
  - { name: after the web, match: { tools: ["*/Bash"] }, when: session.saw.web, action: require_approval, approval: { wait: 1s } }
`
const FAMILY = { lines: [['npm', 'test', '*']] }

let gate: OwnGate
let calls = 0

// biome-ignore lint/suspicious/noExplicitAny: taken apart by the tests
async function post(body: object): Promise<any> {
  const response = await fetch(`${gate.url}/hooks/claude-code`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` },
    body: JSON.stringify(body),
  })
  return response.json()
}

interface Line {
  readonly session?: string
  readonly cwd?: string
  readonly more?: object
}

/** The model words its description anew each time. */
function pre(command: string, { session = 's1', cwd = '/srv/app', more = {} }: Line = {}): object {
  const time = ++calls
  return {
    session_id: session,
    cwd,
    hook_event_name: 'PreToolUse',
    tool_name: 'Bash',
    tool_input: { command, description: `Words of time ${time}`, timeout: time, ...more },
    tool_use_id: `toolu_${time}`,
  }
}

/** Whether the line runs. */
async function runs(command: string, line: Line = {}): Promise<boolean> {
  const { hookSpecificOutput: said = {} } = await post(pre(command, line))
  if (said.permissionDecision === undefined) return true
  expect(said.permissionDecisionReason).toContain('waiting for approval')
  return false
}

/** Has the line held, and its request. */
async function hold(command: string, line: Line = {}): Promise<string> {
  expect(await runs(command, line)).toBe(false)
  const requests = await gate.approvals.list({ states: ['pending'] })
  return requests.find((request) => request.command?.line === command)?.id ?? ''
}

async function approve(id: string, terms: Omit<StandingTerms, 'forMs'>): Promise<void> {
  const forAWhile = { forMs: 3_600_000, ...terms }
  await gate.approvals.decide(id, { verdict: 'approve', forAWhile }, ADA, 'console')
}

beforeAll(async () => {
  gate = await ownGate({
    servers: { 'claude-code': { builtin: 'claude-code' } },
    policy: POLICY,
    config: CONFIG,
  })
  await makePerson(gate.data, 'ann')
  type(PIN)
}, 60_000)
afterAll(() => endOwnGates())

describe('an approval of lines for a while, at the terminal', () => {
  test('says what it will let pass, and is listed with how often it was used', async () => {
    const id = await hold('npm test')
    const { code, stdout, stderr } = await sluice([
      'approvals',
      'approve',
      id.slice(0, 12),
      '--data',
      gate.data,
      '--for',
      '2h',
      '--session',
      '--bound',
      'command~npm test *',
      '--bound',
      'cwd~/srv/app',
    ])
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toContain('for 120 minutes, in this session only, as many calls as come')
    expect(stdout).toContain('command: lines of npm test *')
    expect(stdout).toContain('cwd: /srv/app and below')
    expect(stdout).toContain('who may write them decides what it does')
    expect(await runs('npm test')).toBe(true)
  })

  test.each<[string, Line?]>([
    ['npm test 2>&1 | tail -20'],
    ['cd packages/a && npm test -- --run first'],
    ['npm test', { cwd: '/srv/app/packages/a' }],
    ['cd /srv/app && npm test', { cwd: '/srv/app/packages/a' }],
    ['CI=1 npm test || true'],
  ])('lets `%s` run', async (line, where) => {
    expect(await runs(line, where)).toBe(true)
  })

  // Approved once, so that they do not fill the session.
  afterEach(async () => {
    for (const { id } of await gate.approvals.list({ states: ['pending'] }))
      await gate.approvals.decide(id, { verdict: 'approve' }, ADA, 'console')
  })

  test.each<[string, string, Line?]>([
    ['another program', 'npm test; touch evil'],
    ['a file that is written', 'npm test > out'],
    ['another directory', 'cd /etc && npm test'],
    ['where the client stands elsewhere', 'npm test', { cwd: '/srv' }],
    ['what runs in the background', 'npm test', { more: { run_in_background: true } }],
    ['outside of the sandbox', 'npm test', { more: { dangerouslyDisableSandbox: true } }],
  ])('asks about %s', async (_, line, where) => {
    expect(await runs(line, where)).toBe(false)
  })

  test('asks about another session, which is another process of the client', async () => {
    const header = `authorization: Bearer ${TOKEN}`
    const url = `${gate.url}/hooks/claude-code`
    const child = spawn('curl', ['-s', '-H', header, '--json', '@-', url])
    child.stdin.end(JSON.stringify(pre('npm test -- --again', { session: 's2' })))
    expect(await text(child.stdout)).toContain('waiting for approval')
  })

  test('is on record at each call that it let pass', async () => {
    const { standing } = await sluiceJson(['approvals', 'list', '--data', gate.data])
    expect(standing).toMatchObject([{ used: 5, session: expect.any(String), by: ['ann'] }])
    const [{ id }] = standing
    const { stdout } = await sluice(['approvals', 'list', '--data', gate.data])
    expect(stdout).toMatch(/session .* only, used 5 times, approved by ann \(/)
    const query = ['ledger', 'query', '--data', gate.data, '--approval', id]
    await expect
      .poll(async () => (await sluiceJson(query)).calls)
      .toMatchObject(Array.from({ length: 5 }, () => ({ approval: id })))
  })

  test('does not hold for what another rule asks about since', async () => {
    const fetched = { url: 'https://example.com/' }
    const web = { session_id: 's1', cwd: '/srv/app', tool_name: 'WebFetch', tool_use_id: 'w1' }
    const asked = { ...web, tool_input: fetched }
    await post({ ...asked, hook_event_name: 'PreToolUse' })
    await post({ ...asked, hook_event_name: 'PostToolUse', tool_response: 'a page' })
    expect(await runs('npm test -- --web')).toBe(false)
  })

  test('ends', async () => {
    const [standing] = gate.approvals.standing
    await sluice(['approvals', 'end', standing?.id ?? '', '--data', gate.data])
    expect(gate.approvals.standing).toEqual([])
  })
})

describe('terms that are no', () => {
  let id = ''
  beforeAll(async () => {
    id = await hold('make && npm test', { session: 's3' })
  })

  test.each<[string, StandingTerms['bounds'], string]>([
    ['families', { command: { lines: [] } }, 'give 1 to 20 families'],
    ['program', { command: { lines: [['*']] } }, 'names no program'],
    ['family of the line itself', { command: FAMILY }, 'leaves out the call that is decided'],
    ['prefix', { command: { lines: [['npm', '*', 'x']] } }, '`*` stands only at the end'],
    ['command line', { cwd: FAMILY }, '`cwd` is none'],
    ['plain directory', { cwd: { below: '/srv/../etc' } }, 'no plain directory'],
    ['absolute directory', { cwd: { below: 'srv' } }, 'no plain directory'],
    ['directory above its own', { cwd: { below: '/srv/app/packages' } }, 'leaves out the call'],
  ])('%s are refused', async (_, bounds, why) => {
    await expect(approve(id, { bounds: bounds ?? {} })).rejects.toThrow(why)
  })

  test.each([
    ['command~', '`` names no programs'],
    ['command~npm * x', '`*` stands only at the end'],
    ['command~sudo npm *', 'it starts a program by another one'],
  ])('--bound %s is refused before the request is shown', async (bound, why) => {
    const args = ['approvals', 'approve', id, '--data', gate.data, '--for', '1h', '--bound', bound]
    const { code, stderr } = await sluice(args)
    expect([code, stderr]).toEqual([2, expect.stringContaining(why)])
  })

  test('--session without --for is refused', async () => {
    const args = ['approvals', 'approve', id, '--data', gate.data, '--session']
    expect((await sluice(args)).stderr).toContain('--session without --for')
  })

  test('line that is not certain has no family, and the reason is said', async () => {
    const held = await hold('npm test $x', { session: 's4' })
    await expect(approve(held, { bounds: { command: FAMILY } })).rejects.toThrow(
      'it has a part that may be anything (SimpleExpansion)',
    )
  })
})
