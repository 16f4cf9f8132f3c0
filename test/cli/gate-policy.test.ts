// Which policy the `policy` commands work on: that of the gate which all other commands find, wherever its files
// are, and never a policy.yaml of the folder that no gate reads.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { ROOT } from '../support/modules.ts'
import { sluice, sluiceJson } from '../support/run-sluice.ts'
import { scratchDirectory } from '../support/scratch.ts'

const CONFIG = `version: 1
servers: { notes: { command: [node, "--version"], env: { KEY: "\${A_KEY_THAT_THIS_SHELL_LACKS}" } } }
policies: { house: ./base.yaml }
policy: `
const BASE = `version: 1
default: allow
guardrails: [{ name: nothing leaves, match: { tools: [mail/send] }, action: deny }]
`
const OWN = 'version: 1\ndefault: deny\ntools:\n  mail/send: allow\n  notes/read: allow\n'

/** The folder of the user's own gate, and a project that is the current folder. */
let own = ''
let project = ''

beforeEach(() => {
  const home = scratchDirectory()
  own = join(home, 'sluice')
  project = join(home, 'project')
  for (const folder of [own, project]) mkdirSync(folder)
  vi.stubEnv('XDG_CONFIG_HOME', home)
  vi.stubEnv('XDG_STATE_HOME', home)
  vi.stubEnv('HOME', home)
  process.chdir(project)
})
afterEach(() => {
  process.chdir(ROOT)
  vi.unstubAllEnvs()
})

function configure(policy = './policy.yaml'): string {
  writeFileSync(join(own, 'sluice.yaml'), `${CONFIG}${policy}\n`)
  writeFileSync(join(own, 'base.yaml'), BASE)
  writeFileSync(join(own, 'policy.yaml'), OWN)
  return join(own, 'policy.yaml')
}

describe('in a project whose gate has its files elsewhere', () => {
  test('`policy add` changes the policy of the gate and makes no other', async () => {
    const policy = configure()
    const { code, stdout } = await sluice('policy add coding-agent --server claude-code'.split(' '))
    expect(code).toBe(0)
    expect(stdout).toContain(`added \`coding-agent\` to ${policy}: `)
    expect(readFileSync(policy, 'utf8')).toContain('claude-code/Bash')
    expect(existsSync('policy.yaml')).toBe(false)
  })

  test('a policy.yaml of the project is read only if --policy names it', async () => {
    const policy = configure()
    writeFileSync('policy.yaml', 'version: 1\ndefault: deny\n')
    expect((await sluice(['policy', 'check'])).stdout).toContain(`ok: ${policy}, 2 rules`)
    for (const named of [['policy.yaml'], ['--policy', 'policy.yaml']])
      expect((await sluice(['policy', 'check', ...named])).stdout).toContain('ok: policy.yaml, 0')
    expect((await sluice(['policy', 'check', 'a.yaml', '--policy', 'b.yaml'])).stderr).toContain(
      'both `a.yaml` and --policy `b.yaml` name a policy',
    )
  })

  test('the base policy of the gate lies over it, and every command says the same', async () => {
    const policy = configure()
    const explained = await sluice(['policy', 'explain', 'notes/read'])
    expect(explained.stdout).toContain(`${policy}:5`)
    expect((await sluiceJson(['policy', 'explain', 'mail/send'])).code).toBe('DENIED')
    const tools = [{ server: 'mail', name: 'send', inputSchema: { type: 'object' } }]
    writeFileSync('tools.json', JSON.stringify(tools))
    writeFileSync('cases.yaml', 'cases: [{ call: mail/send, expect: deny }]\n')
    writeFileSync('claims.yaml', 'properties: [{ never: { tool: mail/send, action: allow } }]\n')
    writeFileSync('traces.jsonl', '{"id":"a","steps":[{"server":"mail","tool":"send"}]}\n')
    expect((await sluiceJson(['policy', 'test', 'cases.yaml'])).failed).toBe(0)
    expect((await sluiceJson(['policy', 'coverage', 'cases.yaml'])).failed).toBe(0)
    const prove = ['policy', 'prove', 'claims.yaml', '--tools', 'tools.json']
    expect((await sluiceJson(prove)).proved).toBe(true)
    const simulate = 'policy simulate --tools tools.json --traces traces.jsonl'.split(' ')
    expect((await sluiceJson(simulate)).benign).toMatchObject({ held: 1 })
  })

  test('a policy that is a part of the configuration is read, and a pack is not added to it', async () => {
    configure('{ version: 1, default: deny, tools: { notes/read: allow } }')
    expect((await sluiceJson(['policy', 'explain', 'notes/read'])).action).toBe('allow')
    const { code, stderr } = await sluice(['policy', 'add', 'github'])
    expect([code, stderr]).toEqual([2, expect.stringContaining('to a file of its own')])
  })

  test('a configuration without a policy is named, with what to do', async () => {
    writeFileSync(join(own, 'sluice.yaml'), 'version: 1\nservers: {}\n')
    const { code, stderr } = await sluice(['policy', 'explain', 'a/b'])
    expect(code).toBe(2)
    expect(stderr).toContain(`\`${join(own, 'sluice.yaml')}\` names no policy`)
  })
})

test.each([
  'check',
  'explain a/b',
  'add github',
  'test cases.yaml',
  'coverage cases.yaml',
  'prove claims.yaml --tools tools.json',
  'simulate --tools tools.json --traces traces.jsonl',
])('without a gate `policy %s` says so and makes nothing', async (words) => {
  writeFileSync('cases.yaml', 'cases: [{ call: a/b, expect: deny }]\n')
  writeFileSync('claims.yaml', 'properties: [{ never: { action: allow } }]\n')
  writeFileSync('tools.json', '[]')
  writeFileSync('traces.jsonl', '{"id":"a","steps":[{"server":"a","tool":"b"}]}\n')
  const run = () => sluice(['policy', ...words.split(' ')])
  const { code, stderr } = await run()
  expect(code).toBe(2)
  expect(stderr).toContain('no gate is configured')
  expect(stderr).toContain('--policy FILE')
  expect(existsSync('policy.yaml')).toBe(false)
  writeFileSync('policy.yaml', OWN)
  expect((await run()).stderr).toContain('pass --policy policy.yaml')
})
