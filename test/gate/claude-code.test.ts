// The published Claude Code with the hooks that `sluice init --hooks --enforce` writes, and a model on
// loopback that asks for one command. What counts is the file that the command makes.

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { CODING_CLIENTS, findCodingClient, runClient } from '../support/coding-clients.ts'
import { type FakeModel, startFakeModel } from '../support/fake-model.ts'
import { freePort } from '../support/postgres.ts'
import { sluice, sluiceJson } from '../support/run-sluice.ts'
import { IS_FULL } from '../support/runs.ts'

const program = findCodingClient('claude-code')
const {
  package: pack,
  versions: [version],
} = CODING_CLIENTS['claude-code']
const suite = `Claude Code ${version}${program === undefined ? ` (not run: npm install ${pack})` : ''}`

describe.skipIf(program === undefined)(suite, () => {
  let root: string
  let model: FakeModel
  const home = () => join(root, 'home')
  const settings = () => join(home(), '.claude', 'settings.json')
  const config = () => join(root, 'sluice.yaml')
  const made = (name: string) => join(root, 'project', name)

  beforeAll(async () => {
    root = mkdtempSync(join(tmpdir(), 'sluice-claude-'))
    for (const folder of ['home/.claude', 'project'])
      mkdirSync(join(root, folder), { recursive: true })
    vi.stubEnv('HOME', home())
    vi.stubEnv('XDG_STATE_HOME', join(home(), 'state'))
    vi.stubEnv('CLAUDE_CONFIG_DIR', '')
    model = await startFakeModel()
    const listen = `127.0.0.1:${await freePort()}`
    writeFileSync(config(), `version: 1\nlisten: ${listen}\nservers: {}\npolicy: ./policy.yaml\n`)
    const deny = '{ action: deny, when: \'args.command.contains("forbidden")\', otherwise: allow }'
    writeFileSync(
      join(root, 'policy.yaml'),
      `version: 1\ndefault: allow\ntools: { "claude-code/Bash": ${deny} }\n`,
    )
  }, 300_000)
  afterAll(async () => {
    await sluice(['stop', '--config', config()])
    model.close()
    rmSync(root, { recursive: true, force: true })
    vi.unstubAllEnvs()
  })

  async function run(file: string) {
    model.command = `touch ${made(file)}`
    model.results.length = 0
    const args = ['-p', 'Make the file', '--allowedTools', 'Bash']
    const { output } = await runClient(program as string, args, {
      cwd: join(root, 'project'),
      env: {
        HOME: home(),
        XDG_STATE_HOME: join(home(), 'state'),
        ANTHROPIC_BASE_URL: model.url,
        ANTHROPIC_API_KEY: 'sk-ant-test',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_AUTOUPDATER: '1',
      },
    })
    return { output, isMade: existsSync(made(file)), read: model.results.join() }
  }

  test('without a gate a session starts one, and the command runs', async () => {
    const init = await sluice([
      'init',
      '--hooks',
      'claude-code',
      '--enforce',
      '--yes',
      '--config',
      config(),
    ])
    expect(init.code, init.stderr).toBe(0)
    expect((await sluice(['stop', '--config', config()])).code).toBe(0)
    const { isMade, output } = await run('allowed')
    expect(isMade, output).toBe(true)
    const { calls } = await sluiceJson([
      'ledger',
      'query',
      '--config',
      config(),
      '--server',
      'claude-code',
    ])
    expect(calls).toMatchObject([{ name: 'Bash', outcome: { status: 'answered' } }])
  }, 120_000)

  test('a command that the policy denies does not run, and the model reads why', async () => {
    const { isMade, read } = await run('forbidden')
    expect(isMade).toBe(false)
    expect(read).toContain('denied by policy')
  }, 120_000)

  // H4 of hook-script.test.ts has the line itself.
  test.runIf(IS_FULL)(
    'without a gate, and without what starts one, nothing runs',
    async () => {
      await sluice(['stop', '--config', config()])
      const text = JSON.parse(readFileSync(settings(), 'utf8'))
      delete text.hooks.SessionStart
      writeFileSync(settings(), JSON.stringify(text))
      const { isMade } = await run('absent')
      expect(isMade).toBe(false)
    },
    120_000,
  )
})
