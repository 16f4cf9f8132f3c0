// The pack `coding-agent` on calls that got past it: where an editor may write, which places a line may not write to,
// what shows a secret, and what a session that has read something may still send.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type SampleFacts, sampleFacts } from '@sluice/policy/cases/sample-facts'
import { compile } from '@sluice/policy/compile/compile'
import type { JsonObject } from '@sluice/policy/core/json'
import { MemoryCounters } from '@sluice/policy/counters/memory-counters'
import { decide } from '@sluice/policy/decide/decide'
import { describe, expect, test } from 'vitest'
import { ROOT } from '../support/modules.ts'

const PACK = join(ROOT, 'packages/sluice/packs/coding-agent/policy.yaml')
const { policy } = compile({ file: PACK, text: readFileSync(PACK, 'utf8') })
const CWD = '/home/ann/shop'

function judge(name: string, args: object, given: SampleFacts = {}) {
  if (policy === undefined) throw new Error('the pack does not compile')
  const inputSchema = { type: 'object', additionalProperties: true }
  const tool = { definition: { server: 'coding-agent', name, inputSchema } } as const
  const facts = sampleFacts({ ...tool, category: 'Read', risk: 'low' }, given)
  const call = { server: 'coding-agent', name, method: 'tools/call', args: args as JsonObject }
  return decide(policy, call, facts, new MemoryCounters(), { wallMs: 0, monotonicMs: 0 })
}

const runs = (command: string, cwd = CWD) => judge('Bash', { command, cwd }).action
const writes = (file_path: string, cwd = CWD) => judge('Write', { file_path, cwd }).action

describe('an editor writes in the project', () => {
  test.each([
    '/home/ann/shop/src/a.ts',
    '/home/ann/shop/.github/workflows/ci.yml',
    '/home/ann/shop/.env.example',
    '/home/ann/shop/CLAUDE.md',
    '/home/ann/shop/AGENTS.md',
  ])('%s passes', (file) => {
    expect(writes(file)).toBe('allow')
  })

  test.each([
    '/home/ann/.ssh/authorized_keys',
    '/home/ann/.ssh/config',
    '/home/ann/.curlrc',
    '/home/ann/.npmrc',
    '/home/ann/.config/systemd/user/x.service',
    '/home/ann/.local/bin/git',
    '/etc/cron.d/x',
    '/home/ann/shop2/a.ts',
    '/home/ann/shop/../b/a.ts',
    '/home/ann/shop/.husky/pre-commit',
    '/home/ann/shop/.envrc',
    '/home/ann/shop/.devcontainer/devcontainer.json',
  ])('%s waits', (file) => {
    expect(writes(file)).toBe('require_approval')
  })

  test.each([
    '/home/ann/.bash_aliases',
    '/home/ann/.config/git/config',
    '/etc/claude-code/managed-settings.json',
    '/usr/lib/node_modules/sluice/bin/sluice-hook',
    '/home/ann/shop/node_modules/@sluice/policy/src/index.ts',
    '/home/ann/shop/sluice.lock',
    '/home/ann/shop/sluice.codex.header',
    '/home/ann/shop/.github/hooks/x.json',
    '/home/ann/shop/.Claude/settings.json',
    '/home/ann/shop/.git',
    '/home/ann/shop/.claude/worktrees/fix/.claude/settings.json',
  ])('%s is denied', (file) => {
    expect(writes(file)).toBe('deny')
  })

  test('a worktree of the client is a project', () => {
    const cwd = '/home/ann/shop/.claude/worktrees/fix'
    expect(writes(`${cwd}/src/a.ts`, cwd)).toBe('allow')
    expect(runs('touch src/a.ts', cwd)).toBe('allow')
  })

  test('without a directory, or in a home directory, it waits', () => {
    for (const tool of ['Write', 'Edit'])
      expect(judge(tool, { file_path: '/home/ann/shop/a' }).action).toBe('require_approval')
    expect(judge('NotebookEdit', { notebook_path: '/home/ann/shop/a' }).action).toBe(
      'require_approval',
    )
    expect(writes('/home/ann/a.ts', '/home/ann')).toBe('require_approval')
    expect(writes('/etc/hosts', '/')).toBe('require_approval')
  })

  test('a notebook outside waits', () => {
    const edits = (notebook_path: string) => judge('NotebookEdit', { notebook_path, cwd: CWD })
    expect(edits('/home/ann/shop/a.ipynb').action).toBe('allow')
    expect(edits('/home/ann/a.ipynb').action).toBe('require_approval')
    expect(edits('/home/ann/shop/.git/a.ipynb').action).toBe('require_approval')
  })
})

describe('a protected place by another name', () => {
  test.each([
    'mv x .claude',
    'mv x .codex',
    'cp -r x .claude',
    'ln -sfn x .claude',
    'mv .git g',
    'mv g .git',
    'cp evil .git',
    'rsync -a evil/ .claude/',
    'tar xf e.tar -C .git',
    'curl -O http://localhost/x --output-dir .claude',
    'wget -P .claude http://localhost/x',
    'git checkout evil .claude',
    'echo x > .Claude/settings.json',
    'echo x > .GIT/config',
    'echo x > .github/hooks/x.json',
    'echo x > sluice.lock',
    'cp x node_modules/sluice/bin/sluice-hook',
  ])('%s is denied', (command) => {
    expect(runs(command)).toBe('deny')
  })

  test.each([
    ['touch settings.json', '/home/ann/shop/.claude'],
    ['echo x > config', '/home/ann/shop/.git'],
    ['mv /tmp/x hooks', '/home/ann/shop/.GIT/modules'],
  ])('%s in %s is denied', (command, cwd) => {
    expect(runs(command, cwd)).toBe('deny')
  })

  test.each([
    'echo x > .g*t/config',
    'echo x > .{git,x}/config',
    'd=.git; echo x > $d/config',
    'f=.git/config; echo x > "$f"',
    'echo x > $(git rev-parse --git-dir)/config',
    'touch .husky/pre-commit',
    'touch .devcontainer/x',
  ])('%s does not pass', (command) => {
    expect(runs(command)).not.toBe('allow')
  })

  test('~/.ssh as the directory waits', () => {
    expect(runs('echo x >> authorized_keys', '/home/ann/.ssh')).toBe('require_approval')
    expect(writes('/home/ann/.ssh/authorized_keys', '/home/ann/.ssh')).toBe('require_approval')
  })

  test.each([
    'git status && cat .git/HEAD && ls .claude',
    'git add .github/workflows && git commit -m "ci: .git/config"',
    'for f in src/*.ts; do sed -i s/a/b/ "$f"; done',
    'pip install -e .[dev]',
    'npx prettier --write "src/**/*.ts"',
  ])('%s passes', (command) => {
    expect(runs(command)).toBe('allow')
  })
})

test('a skill, which may run commands when it is loaded, waits', () => {
  expect(judge('Skill', { skill: 'evil' }).action).toBe('require_approval')
})

describe('the gate is not changed by a line', () => {
  test.each([
    './node_modules/.bin/sluice init --undo',
    'node_modules/.bin/sluice stop',
    'node node_modules/sluice/bin/sluice.js init --undo',
    'node --no-warnings ./dist/sluice.js policy apply',
    'npx sluice init --undo',
    'npm exec -- sluice stop',
    'yarn sluice stop',
    'cd node_modules/.bin && ./sluice stop',
    'sluice stop',
  ])('%s waits', (command) => {
    expect(runs(command)).toBe('require_approval')
  })

  test.each(['./node_modules/.bin/sluice status', 'rg sluice packages', 'git add packages/sluice'])(
    '%s passes',
    (command) => {
      expect(runs(command)).toBe('allow')
    },
  )
})
