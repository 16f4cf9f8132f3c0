// `sluice init --hooks`: writes the hooks of each client beside what is there, and `--undo` leaves every file
// as it was, byte for byte.

import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test, vi } from 'vitest'
import { parseToml } from '../../packages/cli/src/init/files/toml-entries.ts'
import { readConfig } from '../../packages/gateway/src/config/config.ts'
import { findBoxAvailability } from '../../packages/gateway/src/isolation/boxes.ts'
import { agreeAtTerminal, type } from '../support/person.ts'
import { sluice } from '../support/run-sluice.ts'
import { scratchDirectory } from '../support/scratch.ts'

let root: string
let home: string
let config: string

/** As a person writes it: comments, a hook of their own, tabs, a last comma. */
const SETTINGS = `{
\t// mine
\t"model": "opus",
\t"hooks": {
\t\t"PreToolUse": [
\t\t\t{ "matcher": "Bash", "hooks": [{ "type": "command", "command": "./lint.sh" }] }, // keep
\t\t],
\t},
}`

beforeEach(() => {
  root = scratchDirectory()
  home = join(root, 'home')
  config = join(root, 'gate', 'sluice.yaml')
  for (const folder of ['.claude', '.codex', '.copilot', '.gemini', '../dotfiles'])
    mkdirSync(join(home, folder), { recursive: true })
  vi.stubEnv('HOME', home)
  for (const name of ['CLAUDE_CONFIG_DIR', 'CODEX_HOME', 'COPILOT_HOME']) vi.stubEnv(name, '')
  writeFileSync(join(root, 'dotfiles', 'claude.json'), SETTINGS)
  chmodSync(join(root, 'dotfiles', 'claude.json'), 0o640)
  symlinkSync(join(root, 'dotfiles', 'claude.json'), join(home, '.claude', 'settings.json'))
  writeFileSync(join(home, '.gemini', 'settings.json'), '{"theme":"dark"}')
  return () => vi.unstubAllEnvs()
})

/** A program that says that it is this version of Claude Code, in a PATH of its own. */
function installClaude(version: string): void {
  const folder = join(root, 'bin')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'claude'), `#!/bin/sh\necho "${version} (Claude Code)"\n`)
  chmodSync(join(folder, 'claude'), 0o755)
  vi.stubEnv('PATH', `${folder}:/usr/bin:/bin`)
}

const init = (...args: string[]) => sluice(['init', '--config', config, ...args])
const box = await findBoxAvailability()
/** Without comments and last commas. */
const claudeAsJson = () =>
  claude()
    .replaceAll(/\t\/\/ .*| \/\/ keep/g, '')
    .replaceAll(/,(\s*[}\]])/g, '$1')
const claude = () => readFileSync(join(home, '.claude', 'settings.json'), 'utf8')
const files = () => ({
  claude: claude(),
  gemini: readFileSync(join(home, '.gemini', 'settings.json'), 'utf8'),
  codex: existsSync(join(home, '.codex', 'hooks.json')),
  copilot: existsSync(join(home, '.copilot', 'hooks', 'sluice.json')),
})

test('writes the hooks of every client, once, and takes them back byte for byte', async () => {
  const before = files()
  const dry = await init('--hooks', '--dry-run')
  expect(dry.stdout).toContain('/hooks/claude-code')
  expect(dry.stdout).not.toMatch(/sluice_[0-9a-f]{64}/)
  expect(files()).toEqual(before)
  const ran = await init('--hooks', '--yes')
  expect(ran.code, ran.stderr).toBe(0)
  expect(ran.stdout).toContain('the policy only observes yet')
  const written = files()
  expect(written).toMatchObject({ codex: true, copilot: true })
  expect(written.claude).toContain('./lint.sh')
  expect(written.claude).toContain('// mine')
  expect(written.claude).not.toContain('onFailure')
  expect(lstatSync(join(home, '.claude', 'settings.json')).isSymbolicLink()).toBe(true)
  // The token of the grant is in it.
  expect(statSync(join(home, '.claude', 'settings.json')).mode & 0o777).toBe(0o600)
  const headers = () => readdirSync(join(root, 'gate')).filter((name) => name.endsWith('.header'))
  expect(headers()).toHaveLength(3)
  const text = readFileSync(config, 'utf8')
  const { config: read, problems } = readConfig({ file: config, text }, {})
  expect(problems).toEqual([])
  expect(Object.keys(read?.servers ?? {})).toEqual(['claude-code', 'codex', 'copilot', 'gemini'])
  expect(read?.grants.map(({ hooks, canSayPrompt }) => [hooks, canSayPrompt])).toEqual([
    ['claude-code', true],
    ['codex', false],
    ['copilot', false],
    ['gemini', false],
  ])
  expect((await init('--hooks', '--yes')).stdout).toContain('there already')
  const status = await sluice(['status', '--config', config])
  expect(status.stdout).toContain('hooks: claude-code asks, goes on if the gate is down')
  const doctor = await sluice(['doctor', '--config', config])
  expect(doctor.stdout).toContain('claude-code has 1 hook of others')
  expect(files()).toEqual(written)
  expect(readFileSync(config, 'utf8')).toBe(text)
  expect((await init('--undo')).code).toBe(0)
  expect(files()).toEqual(before)
  expect(headers()).toEqual([])
  expect(statSync(join(home, '.claude', 'settings.json')).mode & 0o777).toBe(0o640)
})

test('H4: what blocks has a form that blocks in the version of the client', async () => {
  const machine = join(root, 'machine')
  const hooks = () => {
    const file = join(machine, 'etc/claude-code/managed-settings.json')
    return JSON.parse(readFileSync(file, 'utf8')).hooks
  }
  installClaude('2.1.197')
  await init('--managed', machine, '--yes')
  const line = expect.stringMatching(/sluice-hook' .* block before \|\| sh -c '.*exit 2'$/)
  expect(hooks().PreToolUse).toMatchObject([{ hooks: [{ type: 'command', command: line }] }])
  // A prompt is the user's only if the client itself sends it.
  expect(hooks().UserPromptSubmit).toMatchObject([{ hooks: [{ type: 'http' }] }])
  expect(readFileSync(join(root, 'gate', 'sluice.claude-code.header'), 'utf8')).toContain('Bearer')
  installClaude('2.1.295')
  await init('--managed', machine, '--yes')
  expect(hooks().PreToolUse).toMatchObject([{ hooks: [{ type: 'http', onFailure: 'block' }] }])
})

test('H4: status and doctor say that hooks block only where they do', async () => {
  const status = async () => (await sluice(['status', '--config', config])).stdout
  const doctor = async () => (await sluice(['doctor', '--config', config])).stdout
  const blocking = {
    type: 'http',
    url: 'http://127.0.0.1:7433/hooks/claude-code',
    onFailure: 'block',
  }
  const entry = { matcher: '*', hooks: [blocking] }
  const file = join(home, '.claude', 'settings.json')
  writeFileSync(file, JSON.stringify({ hooks: { PreToolUse: [entry], UserPromptSubmit: [entry] } }))
  mkdirSync(join(root, 'gate'))
  writeFileSync(config, 'version: 1\nservers: {}\n')
  installClaude('2.1.294')
  const goesOn =
    'claude-code asks, goes on if the gate is down: version 2.1.294 ignores `onFailure`'
  expect(await status()).toContain(goesOn)
  expect(await status()).toContain('`sluice init --hooks claude-code --enforce`')
  expect(await doctor()).toContain('hooks of claude-code may not block: version 2.1.294')
  installClaude('2.1.295')
  expect(await status()).toContain('claude-code asks, blocks if the gate is down')
  vi.stubEnv('PATH', '/nowhere')
  expect(await status()).toContain('its version is not known')
  // What blocks a prompt alone stops no call.
  writeFileSync(file, JSON.stringify({ hooks: { UserPromptSubmit: [entry] } }))
  expect(await status()).toContain('claude-code asks, goes on if the gate is down\n')
})

test('hooks of an older version are named with the command, and written again by it', async () => {
  installClaude('2.1.327')
  await init('--hooks', '--yes')
  const file = join(home, '.codex', 'hooks.json')
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/ open [a-z]+"/g, ' open"'))
  const status = async () => (await sluice(['status', '--config', config])).stdout
  expect(await status()).toContain(
    'codex has hooks of an older version: `sluice init --hooks codex`',
  )
  expect((await sluice(['doctor', '--config', config])).stdout).toContain(
    'hooks of codex were written by an older version',
  )
  await init('--hooks', 'codex', '--yes')
  expect(await status()).not.toContain('older version')
})

test('B1: doctor warns of a client that is newer than the known one', async () => {
  await init('--hooks', 'claude-code', '--yes')
  const doctor = async () => (await sluice(['doctor', '--config', config])).stdout
  installClaude('2.1.327')
  expect(await doctor()).not.toContain('is newer than')
  installClaude('2.2.0')
  expect(await doctor()).toContain('claude-code 2.2.0 is newer than 2.1.327')
})

test.skipIf(!box.ok)('a box is offered with the hosts of the project, and stays', async () => {
  const project = join(root, 'shop')
  mkdirSync(join(project, '.git'), { recursive: true })
  writeFileSync(
    join(project, '.git/config'),
    '[remote "origin"]\n\turl = git@code.example:ann/shop\n',
  )
  const tarball = 'https://packages.example/x/-/x-1.0.0.tgz'
  const locked = { '': { funding: { url: 'https://fund.example' } }, x: { resolved: tarball } }
  writeFileSync(join(project, 'package-lock.json'), JSON.stringify({ packages: locked }, null, 2))
  writeFileSync(join(project, 'Cargo.lock'), '')
  const hooks = ['--hooks', 'claude-code', '--yes', '--project', project]
  const offered = await init(...hooks)
  expect(offered.stderr).toContain('see --box')
  expect(readFileSync(config, 'utf8')).not.toContain('sandbox')
  const boxed = await init(...hooks, '--box')
  expect(boxed.stderr).toContain('no question any more: `npm ci`')
  const sandbox = () =>
    readConfig({ file: config, text: readFileSync(config, 'utf8') }, {}).config?.servers[
      'claude-code'
    ]
  const hosts = ['code.example', 'index.crates.io', 'packages.example', 'static.crates.io']
  expect(sandbox()).toMatchObject({ sandbox: { hosts } })
  await init(...hooks, '--enforce')
  expect(sandbox()).toMatchObject({ sandbox: { hosts } })
  const doctor = async () => (await sluice(['doctor', '--config', config])).stdout
  expect(await doctor()).toContain('claude-code: its lines run in a box')
  const file = join(home, '.claude', 'settings.json')
  writeFileSync(file, JSON.stringify({ ...JSON.parse(claudeAsJson()), sandbox: { enabled: true } }))
  expect(await doctor()).toContain('claude-code has a sandbox of its own')
  vi.stubEnv('PATH', '/nowhere')
  const why = '`bwrap` is not installed'
  expect(await doctor()).toContain(`lines of claude-code are not confined: ${why}`)
  expect(await doctor()).toContain('install the package `bubblewrap`')
})

test.skipIf(!box.ok)('at a terminal the box is the first question', async () => {
  const project = join(root, 'shop')
  mkdirSync(project)
  writeFileSync(join(project, 'go.sum'), '')
  const args = ['init', '--config', config, '--hooks', 'codex', '--project', project]
  const { code, text } = await agreeAtTerminal(args)
  expect(code, text).toBe(0)
  const at = [
    'lines of codex can run in a box, one for each session:',
    'no question any more: `npm ci`',
    'in it: the project, the programs of this machine, proxy.golang.org, sum.golang.org',
    'not in it: your files and keys, other hosts, `git push`',
    'comes back by `sluice undo`, but for files that git ignores',
    'run their lines in a box? [y/N]',
    'write these lines? [y/N]',
  ].map((line) => text.indexOf(line))
  expect(at, text).not.toContain(-1)
  expect(at).toEqual(at.toSorted((one, other) => one - other))
  const { servers } = readConfig({ file: config, text: readFileSync(config, 'utf8') }, {}).config!
  expect(servers.codex).toMatchObject({
    sandbox: { hosts: ['proxy.golang.org', 'sum.golang.org'] },
  })
})

test('a machine without boxes is told why, and gets its hooks', async () => {
  vi.stubEnv('PATH', '/nowhere')
  const { code, stderr } = await init('--hooks', 'codex', '--yes')
  expect(stderr).toMatch(
    /lines of these clients cannot run in a box here: `bwrap` is not installed; install the package `bubblewrap`/,
  )
  expect(code).toBe(0)
  expect(files().codex).toBe(true)
})

test('takes only its own hooks back from a file that was changed since', async () => {
  await init('--hooks', 'claude-code', '--yes')
  const file = join(home, '.claude', 'settings.json')
  writeFileSync(file, claude().replace('"opus"', '"sonnet"'))
  await init('--undo')
  expect(claude()).toContain('"sonnet"')
  expect(claude()).toContain('./lint.sh')
  expect(claude()).not.toContain('/hooks/claude-code')
})

test('names what is wrong', async () => {
  expect((await init('--hooks', 'emacs', '--yes')).stderr).toContain('`emacs`')
  writeFileSync(join(home, '.claude', 'settings.json'), '{ "hooks": ')
  const ran = await init('--hooks', 'claude-code', '--yes')
  expect(ran.code).toBe(2)
  expect(ran.stderr).toContain('is not JSON')
  expect(existsSync(config)).toBe(false)
})

test('writes the machine-wide files of every client, and takes them back', async () => {
  installClaude('2.1.327')
  const machine = join(root, 'machine')
  const etc = (name: string) => join(machine, 'etc', name)
  mkdirSync(etc('gemini-cli'), { recursive: true })
  writeFileSync(etc('gemini-cli/settings.json'), '{"theme":"dark"}')
  mkdirSync(join(root, 'gate'))
  const notes = 'version: 1\nservers:\n  notes: { url: https://notes.example/mcp }\n'
  writeFileSync(config, notes)
  const ran = await init('--managed', machine, '--yes')
  expect(ran.code, ran.stderr).toBe(0)
  const claudeCode = JSON.parse(readFileSync(etc('claude-code/managed-settings.json'), 'utf8'))
  expect(claudeCode).toMatchObject({ allowManagedHooksOnly: true })
  expect(claudeCode.hooks.PreToolUse[0].hooks[0]).toMatchObject({ onFailure: 'block' })
  const servers = JSON.parse(readFileSync(etc('claude-code/managed-mcp.json'), 'utf8'))
  expect(servers.mcpServers).toEqual({
    notes: { type: 'http', url: 'http://127.0.0.1:7433/mcp/notes' },
  })
  const codex = readFileSync(etc('codex/requirements.toml'), 'utf8')
  expect(parseToml(codex, 'x').value).toMatchObject({
    allow_managed_hooks_only: true,
    hooks: {
      PreToolUse: [
        { hooks: [{ command: expect.stringMatching(/sluice-hook.* block before .*exit 2'$/) }] },
      ],
    },
  })
  const copilot = JSON.parse(readFileSync(etc('github-copilot/policy.d/sluice.json'), 'utf8'))
  expect(copilot.hooks.PreToolUse[0].bash).toMatch(/ block before .*exit 2'$/)
  expect(readFileSync(etc('gemini-cli/settings.json'), 'utf8')).toContain('BeforeTool')
  // These block, and nobody has a PIN.
  type('undo')
  expect((await init('--undo')).code).toBe(0)
  expect(readFileSync(etc('gemini-cli/settings.json'), 'utf8')).toBe('{"theme":"dark"}')
  for (const name of ['codex/requirements.toml', 'claude-code/managed-mcp.json'])
    expect(existsSync(etc(name)), name).toBe(false)
})

test('--quiet adds the word to the policy, and status says what is not asked twice', async () => {
  const policy = join(root, 'gate', 'policy.yaml')
  mkdirSync(join(root, 'gate'))
  writeFileSync(policy, '# mine\nversion: 1\ndefault: deny\ntools: { "claude-code/*": allow }\n')
  writeFileSync(config, 'version: 1\nservers: {}\npolicy: ./policy.yaml\n')
  const others = await init('--hooks', '--quiet', '--yes')
  expect(others.code).toBe(2)
  expect(others.stderr).toContain('./lint.sh')
  expect(others.stderr).toContain('--yes-other-hooks')
  expect(readFileSync(policy, 'utf8')).not.toContain('quiet')
  const args = ['--hooks', '--quiet', '--yes-other-hooks', '--yes']
  const ran = await init(...args)
  expect(ran.code, ran.stderr).toBe(0)
  expect(ran.stdout).toContain('quiet: reads')
  expect(ran.stderr).toContain('codex, copilot, gemini: not yet; their questions stay')
  const written = readFileSync(policy, 'utf8')
  expect(written).toMatch(/^# mine\nversion: 1\nquiet: reads\n/)
  expect(claude()).toContain('$CLAUDE_CODE_SHELL:$SHELL')
  await init(...args)
  expect(readFileSync(policy, 'utf8')).toBe(written)
  const { stdout } = await sluice(['status', '--config', config])
  expect(stdout).toContain(
    'claude-code asks, goes on if the gate is down; local reads of the project and approved calls are not asked twice',
  )
  expect(stdout).toMatch(/codex asks, goes on if the gate is down$/m)
})

test.each([
  ['for a client whose questions stay', ['--hooks', 'codex', '--quiet'], 'codex: not yet', ''],
  ['without --hooks', ['--quiet'], 'use it with --hooks', ''],
  [
    'to a policy that only observes',
    ['--hooks', 'claude-code', '--quiet', '--yes-other-hooks'],
    'run `sluice enforce`',
    'mode: shadow\ntools: { "*/*": allow }\n',
  ],
  [
    'to a policy without a rule that allows',
    ['--hooks', 'claude-code', '--quiet', '--yes-other-hooks'],
    'no rule allows a call',
    'tools: { "*/*": deny }\n',
  ],
])('--quiet is refused %s', async (_what, args, said, rest) => {
  mkdirSync(join(root, 'gate'))
  const policy = join(root, 'gate', 'policy.yaml')
  writeFileSync(policy, `version: 1\ndefault: deny\n${rest}`)
  writeFileSync(config, 'version: 1\nservers: {}\npolicy: ./policy.yaml\n')
  const { code, stderr } = await init(...args, '--yes')
  expect(stderr).toContain(said)
  expect(code).not.toBe(0)
  expect(readFileSync(policy, 'utf8')).not.toContain('quiet')
})
