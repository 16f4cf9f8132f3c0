// Lines of a client with hooks that run in a box of their session: what the client is answered, what the rules
// see, and what is noticed if the client runs another line. The box itself: boxes.test.ts.

import { execFile, execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { hashGrantToken, makeToken } from '../../packages/access/src/identity/callers/grant.ts'
import { findBoxAvailability } from '../../packages/gateway/src/isolation/boxes.ts'
import { ROOT } from '../support/modules.ts'
import { ADA, endOwnGates, type OwnGate, ownGate } from '../support/own-gate.ts'
import { recordsOf } from '../support/plain-client.ts'
import { sluice } from '../support/run-sluice.ts'
import { scratchDirectory } from '../support/scratch.ts'

const TOKEN = makeToken()
const hash = `sha256:${hashGrantToken(TOKEN)?.toString('hex')}`
const grantOf = (hooks: string) => ({ hash, policy: 'policy', prompt: true, hooks })
const SERVERS = {
  'claude-code': { builtin: 'claude-code', sandbox: { hosts: ['open.example'] } },
} as const
/** For what the gate notices by itself. */
const WAIT = { timeout: 20_000 }
const POLICY = `
version: 1
default: deny
tools:
  "*/Bash":
    action: allow
    when: args.box == "in" && !args.command.contains("forbidden")
    otherwise: deny
    reason: not in a box
  "*/BashOutside": { action: require_approval, approval: { wait: 1s } }
`

const available = await findBoxAvailability()
const suite = `a client with a sandbox${available.ok ? '' : ` (not run: ${available.reason})`}`

describe.skipIf(!available.ok)(suite, () => {
  let gate: OwnGate
  let project: string
  let calls = 0
  let alerts = ''
  const receiver = createServer(async (request, response) => {
    alerts += await text(request)
    response.end()
  })

  beforeAll(async () => {
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
    const { port } = receiver.address() as AddressInfo
    const webhook = { url: `http://127.0.0.1:${port}/`, secret: 'a secret of sixteen characters' }
    project = mkdtempSync(join(tmpdir(), 'sluice-project-'))
    execFileSync('git', ['init', '-q', project])
    writeFileSync(join(project, 'acs.txt'), 'only-the-gates-secret-of-acs-0123456789')
    mkdirSync(join(project, 'sub'))
    gate = await ownGate({
      servers: { ...SERVERS, shop: { builtin: 'acs' } },
      policy: POLICY,
      config: {
        stop_within: '4s',
        ledger: { record: 'judged' },
        approvals: { webhook },
        alerts: { every: '1s', on: ['sandbox'] },
        grants: {
          claude: grantOf('claude-code'),
          shop: { acs: 'shop', hmac_key: `\${file:${join(project, 'acs.txt')}}`, policy: 'policy' },
        },
      },
    })
  }, 60_000)
  afterEach(() => vi.restoreAllMocks())
  afterAll(async () => {
    await endOwnGates()
    receiver.close()
    rmSync(project, { recursive: true, force: true })
  })

  // biome-ignore lint/suspicious/noExplicitAny: taken apart by the tests
  async function post(body: unknown): Promise<any> {
    const response = await fetch(`${gate.url}/hooks/claude-code`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` },
      body: JSON.stringify(body),
    })
    expect(response.status, await response.clone().text()).toBe(200)
    return response.json()
  }

  function pre(command: string, more: object = {}) {
    return {
      session_id: 'box',
      cwd: join(project, 'sub'),
      hook_event_name: 'PreToolUse',
      tool_name: 'Bash',
      tool_input: { command, description: 'Does it', timeout: 5_000 },
      tool_use_id: `toolu_${++calls}`,
      ...more,
    }
  }
  const withInput = (asked: object, name: string, input: object) => {
    const { tool_use_id: id, ...rest } = asked as { tool_use_id?: string }
    const ids = name === 'PermissionRequest' ? {} : { tool_use_id: id }
    return { ...rest, ...ids, hook_event_name: name, tool_input: input }
  }
  const ended = (asked: object, input: object, stdout = '') => ({
    ...withInput(asked, 'PostToolUse', input),
    tool_response: { stdout, stderr: '', interrupted: false },
  })
  /** Decides the line and gives what the client is to run in its place. */
  async function rewritten(asked: object): Promise<{ command: string; description: string }> {
    const { hookSpecificOutput: said } = await post(asked)
    expect(said?.permissionDecision).toBeUndefined()
    return said.updatedInput
  }
  const run = (line: string) => {
    const env = { ...process.env, SECRET_TOKEN: 'of the client' }
    return execFileSync('bash', ['-c', line], { cwd: join(project, 'sub'), env, encoding: 'utf8' })
  }
  const incidents = () => gate.log.filter((line) => line.startsWith('hooks: '))

  test('runs a line in its box, and is asked for no yes but for the rewritten line', async () => {
    writeFileSync(join(project, '.env'), 'PASSWORD=x\n')
    const asked = pre('pwd; echo "[$SECRET_TOKEN]"; cat ../.env 2>&1; exit 0')
    const input = await rewritten(asked)
    expect(input).toMatchObject({ description: 'Does it', timeout: 5_000 })
    const output = run(input.command)
    expect(output).toContain(join(project, 'sub'))
    expect(output).toContain('[]')
    expect(output).not.toContain('PASSWORD')
    const yes = { hookEventName: 'PermissionRequest', decision: { behavior: 'allow' } }
    expect(await post(withInput(asked, 'PermissionRequest', input))).toEqual({
      hookSpecificOutput: yes,
    })
    await post(ended(asked, input, output))
    expect(incidents()).toEqual([])
    const [record] = recordsOf(gate)
      .filter(({ kind }) => kind === 'intent')
      .slice(-1)
    expect(JSON.stringify(record)).toContain('pwd; echo')
    expect(JSON.stringify(record)).not.toContain('sluice-line')
  })

  test('in plan mode is asked about a line that does more than read', async () => {
    const ask = async (line: string) => {
      const asked = pre(line, { permission_mode: 'plan' })
      return post(withInput(asked, 'PermissionRequest', await rewritten(asked)))
    }
    expect(await ask('echo x > a.txt')).toEqual({})
    expect((await ask('ls -la')).hookSpecificOutput.decision).toEqual({ behavior: 'allow' })
  })

  test('gets no yes for a line that another hook has put there, and that is noted before it runs', async () => {
    const asked = pre('echo first')
    await rewritten(asked)
    const other = { command: 'echo other' }
    expect(await post(withInput(asked, 'PermissionRequest', other))).toEqual({})
    expect(incidents().at(-1)).toContain('was not admitted with these arguments')
    const noted = incidents().length
    const plain = { command: 'echo first' }
    expect(await post(withInput(asked, 'PermissionRequest', plain))).toEqual({})
    expect(incidents().slice(noted)).toEqual([
      expect.stringContaining('was not admitted with these arguments'),
    ])
  })

  test('is noticed if a line comes back without its box', async () => {
    const asked = pre('echo unconfined')
    await rewritten(asked)
    await post(ended(asked, { command: 'echo unconfined' }, 'unconfined'))
    expect(incidents().at(-1)).toMatch(/came back without its box.*unconfined/)
  })

  test('is noticed each time, also if the client gives calls no id', async () => {
    const before = incidents().length
    for (const line of ['echo one', 'echo two']) {
      const asked = pre(line, { tool_use_id: undefined })
      await rewritten(asked)
      await post(ended(asked, { command: `touch x; ${line}` }, 'unconfined'))
    }
    expect(incidents()).toHaveLength(before + 2)
  })

  test('shows the folder for temporary files of its client, and no other', async () => {
    const scratch = join(
      '/tmp',
      `claude-${process.getuid?.()}`,
      'sluice-test',
      'session',
      'scratchpad',
    )
    const of = (folder: string, session_id: string) =>
      pre(`cat ${folder}/x`, { session_id, scratchpad_dir: folder })
    try {
      mkdirSync(scratch, { recursive: true })
      for (const folder of [scratch, project]) writeFileSync(join(folder, 'x'), 'shown\n')
      expect(run((await rewritten(of(scratch, 'scratch'))).command)).toBe('shown\n')
      const other = join('/tmp', `claude-${process.getuid?.()}`, 'sluice-test')
      writeFileSync(join(other, 'x'), 'hidden\n')
      const { command } = await rewritten(of(other, 'other scratch'))
      expect(() => run(`${command} 2>/dev/null`)).toThrow()
    } finally {
      rmSync(dirname(dirname(scratch)), { recursive: true })
    }
  })

  test('does not see the file with the key of an ACS agent', async () => {
    const { command } = await rewritten(pre('cat ../acs.txt; exit 0', { session_id: 'acs' }))
    expect(run(`${command} 2>&1`)).not.toContain('only-the-gates')
  })

  test.each([
    ['bash: /tmp/x.sh: No such file or directory'],
    ['error: could not write config file .git/config: Device or resource busy'],
    ['ssh: connect to host 192.0.2.1 port 22: Network is unreachable'],
    ['Cannot connect to the Docker daemon at unix:///var/run/docker.sock'],
  ])('tells the model how to go on after `%s`', async (output) => {
    const asked = pre('x', { session_id: 'how to go on' })
    const input = await rewritten(asked)
    const answer = await post(ended(asked, input, output))
    expect(answer.hookSpecificOutput?.additionalContext).toContain('# outside')
  })

  test('is asked about a line that ends with `# outside`, without the comment', async () => {
    const line = `git push origin b${++calls}`
    const { hookSpecificOutput: said } = await post(pre(`${line} # outside`))
    expect(said.permissionDecisionReason).toContain('waiting for approval')
    const request = (await gate.approvals.list()).find((each) => each.command?.line === line)
    expect(request).toMatchObject({
      command: { touches: expect.stringContaining('outside of the box') },
    })
    await gate.approvals.decide(request!.id, { verdict: 'approve' }, ADA, 'console')
    const asked = pre(`${line} # outside`)
    expect(await post(asked)).toEqual({})
    const before = incidents().length
    await post(ended(asked, { command: `${line} # outside` }, 'pushed'))
    expect(incidents()).toHaveLength(before)
  })

  test('cannot say itself where a line runs', async () => {
    const asked = pre('x', { tool_input: { command: 'git push # outside', box: 'in' } })
    const { hookSpecificOutput: said } = await post(asked)
    expect(said.permissionDecision).toBe('deny')
  })

  test('runs no line that a rule refuses', async () => {
    const { hookSpecificOutput: said } = await post(pre('echo forbidden'))
    expect(said).toMatchObject({ permissionDecision: 'deny' })
    expect(said.updatedInput).toBeUndefined()
  })

  test('tells the model about the box once, and about what the box refused', async () => {
    const of = { session_id: `told ${++calls}` }
    const prompt = { ...of, hook_event_name: 'UserPromptSubmit', prompt: 'Do it' }
    const { hookSpecificOutput: said } = await post(prompt)
    expect(said.hookEventName).toBe('UserPromptSubmit')
    expect(said.additionalContext.split('\n')).toHaveLength(5)
    expect(await post(prompt)).toEqual({})
    const asked = pre('touch /usr/x', of)
    const input = await rewritten(asked)
    const answer = await post(ended(asked, input, 'touch: Read-only file system'))
    expect(answer.hookSpecificOutput).toMatchObject({
      hookEventName: 'PostToolUse',
      additionalContext: expect.stringContaining('# outside'),
    })
    const failed = pre('curl http://closed.example', of)
    const { command } = await rewritten(failed)
    // The gate in this process answers the question for the name.
    await promisify(execFile)('bash', ['-c', command], { cwd: project }).catch(() => {})
    const lost = { ...withInput(failed, 'PostToolUseFailure', { command }), error: 'exit 6' }
    expect((await post(lost)).hookSpecificOutput).toMatchObject({
      hookEventName: 'PostToolUseFailure',
      additionalContext: expect.stringContaining('closed.example'),
    })
  })

  test('has no box any more after the end of the session', async () => {
    const input = await rewritten(pre('echo a', { session_id: 'ends' }))
    expect(run(input.command)).toBe('a\n')
    await post({ session_id: 'ends', hook_event_name: 'SessionEnd' })
    expect(() => run(`${input.command} 2>/dev/null`)).toThrow()
  })

  test('is told that its background processes are gone, if a line has ended the box', async () => {
    const asked = pre('kill -9 -1', { session_id: 'killed' })
    const { command } = await rewritten(asked)
    run(`${command} 2>/dev/null || :`)
    await vi.waitFor(async () => {
      const next = pre('echo again', { session_id: 'killed' })
      const input = await rewritten(next)
      const { hookSpecificOutput: said } = await post(ended(next, input, run(input.command)))
      expect(said?.additionalContext).toContain('background processes of the session ended')
    }, WAIT)
  })

  test('a line that takes something away does not run if the files could not be recorded', async () => {
    const of = { session_id: 'unrecorded' }
    writeFileSync(join(project, 'unreadable'), 'x', { mode: 0 })
    try {
      for (const line of ['rm sub', 'echo x > a', 'eval "$x"']) {
        const { hookSpecificOutput: said } = await post(pre(line, of))
        expect(said.permissionDecisionReason).toContain('# outside')
      }
      expect(run((await rewritten(pre('./none 2>&1; echo ok', of))).command)).toContain('ok\n')
      const status = await askStatus(gate.data)
      expect(status).toContain('no `sluice undo`')
    } finally {
      rmSync(join(project, 'unreadable'))
    }
  })

  test('status shows its box with refused hosts, and `sluice undo` takes a line back', async () => {
    const of = { session_id: 'undone' }
    const file = join(project, 'file.txt')
    writeFileSync(file, 'before\n')
    const { command } = await rewritten(pre('curl -s http://shut.example; rm ../file.txt', of))
    await promisify(execFile)('bash', ['-c', command], { cwd: join(project, 'sub') })
    expect(existsSync(file)).toBe(false)
    expect(await askStatus(gate.data)).toMatch(
      /box [0-9a-f]{8} of claude-code: .*sluice-project.*, refused: shut\.example/,
    )
    const events = recordsOf(gate).filter(({ kind }) => kind === 'event')
    expect(JSON.stringify(events)).toContain('"host":"shut.example"')
    vi.spyOn(process, 'cwd').mockReturnValue(join(project, 'sub'))
    const undo = (...args: string[]) => sluice(['undo', '--data', gate.data, ...args])
    expect((await undo()).stdout).toMatch(/^1 .*rm \.\.\/file\.txt/)
    const asked = await undo('1')
    expect(asked.stderr).toContain('added: file.txt')
    expect(asked.stderr).toContain('pass --yes')
    expect(existsSync(file)).toBe(false)
    expect((await undo('1', '--yes')).stdout).toContain('undone: 1 file')
    expect(readFileSync(file, 'utf8')).toBe('before\n')
  })

  test('has a new box after a protected file was replaced, which is an event and an alert', async () => {
    const of = { session_id: 'replaced' }
    await rewritten(pre('echo a', of))
    execFileSync('git', ['-C', project, 'config', 'user.name', 'Ann'])
    await vi.waitFor(() => expect(alerts).toContain('A protected file was replaced'), WAIT)
    expect(alerts).toContain(join(project, '.git/config'))
    const events = recordsOf(gate).filter(({ kind }) => kind === 'event')
    expect(JSON.stringify(events)).toContain(join(project, '.git/config'))
    const next = pre('echo hostile > .git/config', of)
    const input = await rewritten(next)
    expect(() => run(`${input.command} 2>/dev/null`)).toThrow()
    const { hookSpecificOutput: said } = await post(ended(next, input))
    expect(said?.additionalContext).toContain('background processes of the session ended')
  })

  test('gets a reason if there can be no box, and the line does not run', async () => {
    const asked = pre('echo a', { session_id: 'home', cwd: '/' })
    const { hookSpecificOutput: said } = await post(asked)
    expect(said.permissionDecisionReason).toContain('this line has no box to run in: `/` is no')
    expect(said.permissionDecision).toBe('deny')
  })
})

/** What `sluice status` prints. */
async function askStatus(data: string): Promise<string> {
  return (await sluice(['status', '--data', data])).stdout
}

describe.skipIf(!available.ok)('a client with a sandbox, on a machine without boxes', () => {
  afterEach(async () => {
    await endOwnGates()
    vi.unstubAllEnvs()
  })

  test.each([[[] as string[]], [['bwrap', 'nsenter', 'setpriv', 'bash']]])(
    'with %j in another folder of PATH reads pass, the guardrails hold, and the first refusal says why',
    async (names) => {
      const why = '`bwrap` is not installed; install the package `bubblewrap`'
      const folder = scratchDirectory()
      for (const name of names) symlinkSync(`/usr/bin/${name}`, join(folder, name))
      vi.stubEnv('PATH', folder)
      const policy = readFileSync(join(ROOT, 'packages/cli/packs/coding-agent/policy.yaml'), 'utf8')
      const gate = await ownGate({
        servers: SERVERS,
        policy: policy.replaceAll('coding-agent/', 'claude-code/'),
        config: { grants: { claude: grantOf('claude-code') } },
      })
      gate.approvals.watch(({ id, state }) => {
        if (state === 'pending') void gate.approvals.decide(id, { verdict: 'deny' }, ADA, 'console')
      })
      const post = async (body: object) => {
        const response = await fetch(`${gate.url}/hooks/claude-code`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` },
          body: JSON.stringify({ session_id: 'bare', cwd: '/srv/shop', ...body }),
        })
        return (await response.json()) as {
          hookSpecificOutput?: { permissionDecisionReason?: string; updatedInput?: object }
        }
      }
      const ask = async (command: string) => {
        const of = { tool_name: 'Bash', tool_input: { command }, tool_use_id: command }
        const { hookSpecificOutput: said } = await post({ ...of, hook_event_name: 'PreToolUse' })
        expect(said?.updatedInput).toBeUndefined()
        return said?.permissionDecisionReason ?? 'passes'
      }
      for (const line of ['git status', 'npm test', 'rm -rf dist'])
        expect(await ask(line)).toBe('passes')
      expect(await ask('git push')).toContain(`lines of claude-code are not confined: ${why}`)
      expect(await ask('rm -rf src')).not.toContain('not confined')
      expect(await askStatus(gate.data)).toContain(
        `not confined: lines of clients, ${why.replace(';', ':')}`,
      )
      await post({ hook_event_name: 'SessionEnd' })
    },
  )
})
