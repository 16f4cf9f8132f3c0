// What a newcomer ran into: each error names its cause and what to do (B6 to B14 are the names of the
// findings). Also completion, and standard input that is a socket.

import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { parseJson } from '../../packages/cli/src/init/files/json-entries.ts'
import { sluice } from '../support/run-sluice.ts'
import { scratchDirectory } from '../support/scratch.ts'
import { NODE, SLUICE } from '../support/start-gate.ts'

function fileOf(name: string, text: string): string {
  const file = join(scratchDirectory(), name)
  writeFileSync(file, text)
  return file
}

/** A server that prints this to stderr and exits. */
function scanOf(printed: string): string[] {
  const script = `process.stderr.write(${JSON.stringify(printed)}); process.exitCode = 1`
  return ['scan', '--', NODE, '-e', script]
}

const NPM_404 = `npm error code E404
npm error 404 Not Found - GET https://registry.example/nothing - Not found
npm error 404
npm error A complete log of this run can be found in: /tmp/npm.log
`

const MEMORY = 'version: 1\nservers: { memory: { command: [node, --version] } }\n'

test.for<[name: string, args: () => string[], cause: string, help: string]>([
  [
    'B7: a command as one text',
    () => [
      'up',
      '--config',
      fileOf('b7.yaml', 'version: 1\nservers: { x: { command: "npx -y @scope/foo" } }\n'),
    ],
    '`command` is the text `npx -y @scope/foo`',
    'write `[npx, -y, "@scope/foo"]`',
  ],
  [
    'a mistyped server, before a gate is started for it',
    () => ['stdio', '--server', 'memry', '--config', fileOf('sluice.yaml', MEMORY)],
    'no server is called `memry`',
    'did you mean `memory`?',
  ],
  [
    'B8: tools that are none',
    () => [
      'policy',
      'check',
      fileOf('policy.yaml', 'version: 1\ndefault: deny\n'),
      '--tools',
      fileOf('b8.json', '{"a": 1}'),
    ],
    'is not an array of tool definitions',
    '`sluice scan --out` writes one',
  ],
  ['B12: npm has no such package', () => scanOf(NPM_404), '404 Not Found', 'by itself'],
  [
    'B12: a server that prints nothing',
    () => scanOf(''),
    'it exited with code 1 and printed nothing',
    'by itself',
  ],
  [
    'B12: a command without `--`',
    () => ['scan', 'npx', '-y', 'x'],
    'unknown option `-y`',
    "put `--` before the server's command: `sluice scan -- npx -y x`",
  ],
  [
    'B12: no such program',
    () => ['scan', '--', 'no-such-command'],
    'there is no program `no-such-command`',
    'install it',
  ],
  [
    'an option by the name that other tools have',
    () => ['ledger', 'query', '--decision', 'deny'],
    'unknown option `--decision`',
    'did you mean `--action`?',
  ],
  [
    'a reason by the name that other tools have',
    () => ['freeze', 'all', '--reason', 'x'],
    'unknown option `--reason`',
    'did you mean `--why`?',
  ],
  [
    'the version as a command',
    () => ['version'],
    'unknown command `version`',
    'did you mean `sluice --version`?',
  ],
  [
    'a limit that is a number',
    () => [
      'policy',
      'check',
      fileOf(
        'limit.yaml',
        'version: 1\ndefault: deny\ncategories: { Read: { action: allow, rate_limit: 5 } }\n',
      ),
    ],
    '`rate_limit` is `5`',
    '`{ max: 5, window: 1m }`',
  ],
  [
    'a file in a folder that does not exist',
    () => ['policy', 'check', join(scratchDirectory(), 'none', 'policy.yaml')],
    'was not found',
    'does not exist',
  ],
  [
    'a policy that is not written yet',
    () => ['policy', 'check', join(scratchDirectory(), 'policy.yaml')],
    'was not found',
    '`sluice scan --config sluice.yaml --policy policy.yaml`',
  ],
])('%s', async ([, args, cause, help]) => {
  const { code, stderr } = await sluice(args())
  expect(code).not.toBe(0)
  expect(stderr).toContain(cause)
  expect(stderr.slice(stderr.indexOf('help: '))).toContain(help)
})

test('a gate that does not start: what it printed now, in lines, and not what its log has from before', async () => {
  const config = fileOf('sluice.yaml', `${MEMORY}policy: ./policy.yaml\n`)
  const data = join(config, '../.sluice')
  writeFileSync(join(config, '../policy.yaml'), 'version: 1\ndefault: perhaps\n')
  mkdirSync(data, { mode: 0o700 })
  writeFileSync(join(data, 'gate.log'), 'of yesterday\n', { mode: 0o600 })
  vi.stubEnv('SLUICE_TRUST_DATA', data)
  onTestFinished(() => void vi.unstubAllEnvs())
  const { code, stderr } = await sluice(['stdio', '--server', 'memory', '--config', config])
  expect([code, stderr]).toEqual([2, expect.stringContaining('the gate did not start:\n    ')])
  expect(stderr).toMatch(/policy\.yaml:2:\d+: error: .*perhaps.*\n/)
  expect(stderr).not.toMatch(/of yesterday|\\u\{a\}/)
})

test('a server that is not reached: why, and not `fetch failed`', async () => {
  const closed = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => closed.once('listening', resolve))
  const { port } = closed.address() as { port: number }
  await new Promise((resolve) => closed.close(resolve))
  const { stderr } = await sluice(['scan', '--url', `http://127.0.0.1:${port}/mcp`])
  expect(stderr).toContain(`127.0.0.1:${port}/mcp cannot be reached: ECONNREFUSED`)
  expect(stderr).toContain('nothing listens there')
})

test("a client's file that is no JSON: what is missing", () => {
  expect(() => parseJson('{ "a": 1', 'x.json')).toThrow('is not JSON: a `}` is missing')
  expect(() => parseJson('{ "a" 1 }', 'x.json')).toThrow('a `:` is missing')
  expect(() => parseJson('{ "a": @ }', 'x.json')).toThrow('is not JSON: invalid symbol')
})

test('standard input is read as such, also if it is a socket', async () => {
  // Pipes of a child process are sockets here: /dev/stdin cannot be opened then.
  const child = spawn(NODE, [SLUICE, 'classify', '--json'], { stdio: ['pipe', 'pipe', 'inherit'] })
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  child.stdin.write('[{ "server": "a", ')
  setTimeout(() => child.stdin.end('"name": "delete_all" }]'), 50)
  expect(await new Promise((resolve) => child.once('close', resolve))).toBe(0)
  expect(JSON.parse(Buffer.concat(chunks).toString())).toMatchObject([{ category: 'Destructive' }])
})

test.each(['bash', 'zsh', 'fish'])('completion for %s knows every command', async (shell) => {
  const { code, stdout } = await sluice(['completion', shell])
  expect(code).toBe(0)
  for (const path of ['policy check', 'ledger query', 'approvals approve'])
    expect(stdout).toContain(`'${shell === 'fish' ? '' : 'sluice '}${path}'`)
})

test('completion in bash', async () => {
  const { stdout } = await sluice(['completion', 'bash'])
  const complete = (...words: string[]) => {
    const line = words.map((word) => `'${word}'`).join(' ')
    const script = `${stdout}\nCOMP_WORDS=(${line}); COMP_CWORD=${words.length - 1}; _sluice; echo "\${COMPREPLY[*]}"`
    return execFileSync('bash', ['-c', script], { encoding: 'utf8' }).trim()
  }
  expect(complete('sluice', 'po')).toBe('policy')
  expect(complete('sluice', 'up', '--config', 'x', '--p')).toBe('--port')
  expect(complete('sluice', 'up', '--log', '')).toBe('text json')
  expect(complete('sluice', 'scan', '--', 'npx', '')).toBe('')
})

test('a rule for a server that is not registered is a warning, with the nearest name', async () => {
  const folder = scratchDirectory()
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
  const check = () => sluice(['policy', 'check', join(folder, 'policy.yaml')])
  write('sluice.yaml', `${MEMORY}policy: ./policy.yaml\n`)
  write(
    'policy.yaml',
    'version: 1\ndefault: deny\ntools: { memroy/a: allow, memroy/b: allow, "*/c": deny, memory/d: deny }\n',
  )
  const { code, stdout, stderr } = await check()
  expect([code, stdout]).toEqual([0, expect.stringContaining('1 warning')])
  expect(stderr).toContain('warning: no server is called `memroy`, so this has no effect')
  expect(stderr).toContain('did you mean `memory`?')
  const doctor = await sluice(['doctor', '--config', join(folder, 'sluice.yaml')])
  expect(doctor.stdout).toContain('no server is called `memroy`')
  // The configuration beside it runs another policy.
  write('sluice.yaml', `${MEMORY}policy: ./other.yaml\n`)
  expect((await check()).stderr).not.toContain('no server is called')
})
