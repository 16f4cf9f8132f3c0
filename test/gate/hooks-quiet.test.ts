// Questions of a coding agent that the gate answers for its user (`quiet: reads`), through a real gate: which are
// answered and recorded, and what leaves a question to the user. And the mode of the client, which rules read.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { hashGrantToken, makeToken } from '../../packages/access/src/identity/callers/grant.ts'
import { ADA, endOwnGates, type OwnGate, ownGate } from '../support/own-gate.ts'
import { recordsOf } from '../support/plain-client.ts'
import { sluice, sluiceJson } from '../support/run-sluice.ts'
import { fixture, until } from '../support/start-gate.ts'

const TOKEN = makeToken()
const READ = 'git log --oneline -5 | while read a b; do echo $a; done'
const PLANNING = 'a guardrail of the policy does not permit it'
const YES = {
  hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: { behavior: 'allow' } },
}
const POLICY = `
version: 1
default: deny
quiet: reads
tools:
  claude-code/Bash: { action: allow, when: '!args.command.startsWith("npm")', otherwise: require_approval, approval: { edit_args: true } }
  claude-code/Edit: require_approval
  claude-code/AskUserQuestion: require_approval
  mail/*: allow
guardrails:
  - { name: plan only reads, match: { categories: [Write, Execute, Destructive, Financial] }, when: 'session.mode == "plan"', action: deny }
`

const project = realpathSync(mkdtempSync(join(tmpdir(), 'sluice-quiet-')))
let gate: OwnGate
let session = 0

async function post(body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(`${gate.url}/hooks/claude-code`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${TOKEN}`,
      'sluice-shell': ':/bin/bash',
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  return response.json()
}

let calls = 0
function call(tool_name: string, tool_input: object, more: object = {}) {
  const base = { session_id: `s${session}`, cwd: project, permission_mode: 'default' }
  return { ...base, tool_name, tool_input, tool_use_id: `toolu_${++calls}`, ...more }
}

type Call = ReturnType<typeof call>
const preTool = (of: Call) => post({ ...of, hook_event_name: 'PreToolUse' })
const postTool = (of: Call) => post({ ...of, hook_event_name: 'PostToolUse', tool_response: 'x' })
/** Claude Code gives a question no id. */
const ask = ({ tool_use_id: _, ...of }: Call, more: object = {}, headers = {}) => {
  const asked = { ...of, hook_event_name: 'PermissionRequest', permission_suggestions: [], ...more }
  return post(asked, { 'sluice-event': 'asked', ...headers })
}

/** The answer to the question about a line that was decided. */
async function askAbout(command: string, more: object = {}, headers = {}): Promise<unknown> {
  const line = call('Bash', { command })
  expect(await preTool(line)).toEqual({})
  return ask(line, more, headers)
}

async function approved(of: Call): Promise<void> {
  const decided = preTool(of)
  await gate.approvals.decide(await waiting(), { verdict: 'approve' }, ADA, 'console')
  expect(await decided).toEqual({})
}

/** The request that waits for an approver. */
async function waiting(): Promise<string> {
  await until(() => gate.approvals.pendingCount === 1)
  const requests = await gate.approvals.list()
  return requests.find(({ state }) => state === 'pending')?.id ?? ''
}

const answers = () =>
  recordsOf(gate).flatMap((one) =>
    one.kind === 'event' && one.name === 'quiet' ? [one.detail] : [],
  )
const incidents = () => gate.log.filter((line) => line.startsWith('hooks: ')).length

beforeAll(async () => {
  mkdirSync(join(project, 'src'))
  writeFileSync(join(project, 'src/a.ts'), '')
  symlinkSync('/etc/hostname', join(project, 'notes'))
  const hash = `sha256:${hashGrantToken(TOKEN)?.toString('hex')}`
  gate = await ownGate({
    servers: { mail: fixture('mail'), 'claude-code': { builtin: 'claude-code' } },
    policy: POLICY,
    config: {
      grants: { claude: { hash, policy: 'policy', prompt: true, hooks: 'claude-code' } },
    },
  })
}, 60_000)
beforeEach(() => {
  session++
})
afterAll(async () => {
  await endOwnGates()
  rmSync(project, { recursive: true })
})

describe('a question', () => {
  test('about a local read is answered, recorded, and found by `ledger query --quiet`', async () => {
    const line = call('Bash', { command: READ })
    await preTool(line)
    expect(await ask(line)).toEqual(YES)
    await preTool(call('Bash', { command: 'ls' }))
    const [intent] = recordsOf(gate)
      .filter(({ kind }) => kind === 'intent')
      .slice(-2)
    const mark = { server: 'claude-code', tool: 'Bash', call: intent?.seq, why: 'read' }
    expect(answers().at(-1)).toEqual(mark)
    const query = ['ledger', 'query', '--data', gate.data, '--quiet']
    expect((await sluiceJson(query)).calls).toMatchObject([{ seq: intent?.seq }])
    const merged = await sluice([...query, '--store', 'postgres://127.0.0.1/x'])
    expect(merged.stderr).toContain('--quiet cannot be used with --store')
  })

  test('about one of two equal calls is answered', async () => {
    await preTool(call('Bash', { command: READ }))
    expect(await askAbout(READ)).toEqual(YES)
  })

  test('about a call that an approver approved is answered, whatever its tool', async () => {
    const edit = call('Edit', {
      file_path: join(project, 'src/a.ts'),
      old_string: '',
      new_string: 'x',
    })
    await approved(edit)
    expect(await ask(edit, { permission_suggestions: undefined })).toEqual(YES)
    expect(answers().at(-1)).toMatchObject({ tool: 'Edit', why: 'approved' })
    const line = call('Bash', { command: 'npm test' })
    await approved(line)
    expect(await ask(line)).toEqual(YES)
  })

  test('that only the user can answer is left to them, though an approver approved it', async () => {
    const question = call('AskUserQuestion', { questions: [] })
    await approved(question)
    expect(await ask(question)).toEqual({})
  })

  test.each([
    ['a change', 'touch x'],
    ['another machine', 'gh pr list'],
    ['a path outside', 'cat /etc/hostname'],
    ['a link that leads outside', 'git log -1; cat notes'],
    ['a pattern for that link', 'git log -1; cat n*'],
    ['a secret', 'git log -1; cat .env'],
  ])('about %s is left to the user', async (_what, command) => {
    expect(await askAbout(command)).toEqual({})
  })

  test('by a rule of the user, about a file of the client or from another shell is left to the user', async () => {
    expect(await askAbout(READ, { permission_suggestions: undefined })).toEqual({})
    const folder = { type: 'addDirectories', directories: ['/x'] }
    expect(await askAbout(READ, { permission_suggestions: [folder] })).toEqual({})
    expect(await askAbout(READ, {}, { 'sluice-shell': ':/bin/zsh' })).toEqual({})
    expect(await askAbout(READ)).toEqual(YES)
  })

  test('is about the project where the session began, wherever the client stands now', async () => {
    await preTool(call('Bash', { command: 'cd src' }, { cwd: join(project, 'src') }))
    const above = call('Bash', { command: 'cat b' })
    await preTool(above)
    expect(await ask(above)).toEqual({})
    const moved = call('Bash', { command: 'cat a.ts' }, { cwd: join(project, 'src') })
    await preTool(moved)
    expect(await ask(moved, { cwd: project })).toEqual({})
    expect(await ask(moved)).toEqual(YES)
  })

  test('without its call, after its end or of another call is left to the user, and noticed once', async () => {
    const line = call('Bash', { command: READ })
    const noticed = incidents()
    expect(await ask(line)).toEqual({})
    expect(incidents()).toBe(noticed + 1)
    await preTool(line)
    await postTool(line)
    expect(await ask(line)).toEqual({})
  })

  test('leaves all further ones of its session to the user once a call was changed', async () => {
    const line = call('Bash', { command: READ })
    await preTool(line)
    expect(await ask(call('Bash', { command: 'npm run evil' }))).toEqual({})
    expect(gate.log.at(-1)).toContain('another hook has changed it')
    expect(await ask(line)).toEqual({})
    const edit = call('Edit', { file_path: join(project, 'src/a.ts') })
    await approved(edit)
    expect(await ask(edit)).toEqual({})
    session++
    expect(await askAbout(READ)).toEqual(YES)
    const changed = call('Bash', { command: 'ls' })
    await preTool(changed)
    await postTool({ ...changed, tool_input: { command: 'ls -la' } })
    expect(await askAbout(READ)).toEqual({})
  })

  test('that cannot be read is left to the user', async () => {
    const asked = { hook_event_name: 'PermissionRequest', session_id: 's', tool_name: 'Bash' }
    for (const body of ['{', '[]', asked, { ...call('Bash', {}), permission_mode: 7 }])
      expect(await post(body, { 'sluice-event': 'asked' })).toEqual({})
    expect(await ask(call('Bash', { command: 'ls' }, { cwd: 'here' }))).toEqual({})
  })

  test('is left to the user if an approver changed the arguments', async () => {
    const line = call('Bash', { command: 'npm run edit' })
    const decided = preTool(line)
    const args = JSON.stringify({ command: 'npm run check', cwd: project })
    await gate.approvals.decide(await waiting(), { verdict: 'approve', args }, ADA, 'console')
    expect(JSON.stringify(await decided)).toContain('an approver changed the arguments')
    expect(await ask(line)).toEqual({})
  })
})

describe('session.mode', () => {
  test('is what a hook said last, and holds until another says another', async () => {
    const plan = { permission_mode: 'plan' }
    const denied = await preTool(call('Bash', { command: 'ls' }, plan))
    expect(JSON.stringify(denied)).toContain(PLANNING)
    expect(await preTool(call('Bash', { command: 'ls' }))).toEqual({})
    const prompt = { hook_event_name: 'UserPromptSubmit', session_id: `s${session}`, prompt: 'x' }
    await post({ ...prompt, cwd: project, ...plan })
    const silent = call('Bash', { command: 'ls' }, { permission_mode: undefined })
    expect(JSON.stringify(await preTool(silent))).toContain(PLANNING)
    const wrong = await preTool(call('Bash', { command: 'ls' }, { permission_mode: '' }))
    expect(JSON.stringify(wrong)).toContain('`permission_mode` is')
  })
})
