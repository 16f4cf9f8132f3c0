// Hooks after `sluice init --hooks`: who may take them back, and what `stop`, `status` and `doctor` say of them. With
// the real gate, which the command starts itself.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { terminal } from '../../packages/cli/src/terminal/terminal.ts'
import { makePerson, PIN, type } from '../support/person.ts'
import { freePort } from '../support/postgres.ts'
import { sluice } from '../support/run-sluice.ts'
import { scratchDirectory } from '../support/scratch.ts'

const atDevice = terminal.ask
let root: string
let home: string
let config: string
let data: string
let port: number

beforeEach(async () => {
  root = scratchDirectory()
  home = join(root, 'home')
  config = join(root, 'gate', 'sluice.yaml')
  data = join(root, 'gate', '.sluice')
  for (const folder of ['.claude', '.codex', '../gate'])
    mkdirSync(join(home, folder), { recursive: true })
  vi.stubEnv('HOME', home)
  for (const name of ['CLAUDE_CONFIG_DIR', 'CODEX_HOME', 'COPILOT_HOME']) vi.stubEnv(name, '')
  port = await freePort()
  writeFileSync(
    config,
    `version: 1\nlisten: 127.0.0.1:${port}\nservers: {}\npolicy: ./policy.yaml\n`,
  )
  writeFileSync(join(root, 'gate', 'policy.yaml'), 'version: 1\ndefault: allow\n')
})
afterEach(async () => {
  terminal.ask = atDevice
  await sluice(['stop', '--config', config])
  vi.unstubAllEnvs()
})

const init = (...args: string[]) => sluice(['init', '--config', config, ...args])
const settings = () => join(home, '.claude', 'settings.json')
const hooked = () => existsSync(settings()) && readFileSync(settings(), 'utf8').includes('/hooks/')

describe('H3: hooks that block are taken back by a person', () => {
  const enforced = async () => {
    const ran = await init('--hooks', 'claude-code', '--enforce', '--yes')
    expect(ran.code, ran.stderr).toBe(0)
  }

  test('with a PIN if somebody has one', async () => {
    await makePerson(data)
    await enforced()
    type('a wrong pin')
    expect((await init('--undo')).code).toBe(2)
    expect(hooked()).toBe(true)
    type(PIN)
    const ran = await init('--undo')
    expect(ran.code, ran.stderr).toBe(0)
    expect(hooked()).toBe(false)
  })

  test('at a terminal if nobody has one', async () => {
    await enforced()
    terminal.ask = () => {
      throw new Error('there is no terminal')
    }
    expect((await init('--undo')).code).not.toBe(0)
    expect(hooked()).toBe(true)
    type('yes')
    expect((await init('--undo')).code).toBe(2)
    expect(hooked()).toBe(true)
    type('undo')
    expect((await init('--undo')).code).toBe(0)
    expect(hooked()).toBe(false)
  })

  test('`init --hooks` does not turn them into others that go on', async () => {
    await makePerson(data)
    await enforced()
    const blocking = readFileSync(settings(), 'utf8')
    type('a wrong pin')
    expect((await init('--hooks', 'claude-code', '--yes')).code).toBe(2)
    expect(readFileSync(settings(), 'utf8')).toBe(blocking)
    type(PIN)
    expect((await init('--hooks', 'claude-code', '--yes')).code).toBe(0)
    expect(readFileSync(settings(), 'utf8')).not.toBe(blocking)
  })

  test('hooks that go on need no proof', async () => {
    await makePerson(data)
    expect((await init('--hooks', 'claude-code', '--yes')).code).toBe(0)
    terminal.ask = () => {
      throw new Error('nobody is to be asked')
    }
    expect((await init('--undo')).code).toBe(0)
    expect(hooked()).toBe(false)
  })
})

test('`stop` says which clients are blocked now and which go on unwatched', async () => {
  await init('--hooks', 'codex', '--yes')
  await init('--hooks', 'claude-code', '--enforce', '--yes')
  const { stdout } = await sluice(['stop', '--config', config])
  expect(stdout).toContain('stopped process')
  expect(stdout).toContain('blocked until a gate runs: claude-code')
  expect(stdout).toContain('goes on unwatched until a gate runs: codex')
})

describe('`status` and `doctor` look at the hooks', () => {
  const doctor = async (file = config) => (await sluice(['doctor', '--config', file])).stdout
  const status = async (file = config) => (await sluice(['status', '--config', file])).stdout
  const post = (event: object, token: string) =>
    fetch(`http://127.0.0.1:${port}/hooks/claude-code`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ session_id: 's', cwd: root, ...event }),
    })

  test('N12: at another gate, unreadable for the client, and when the last call came', async () => {
    await init('--hooks', 'claude-code', '--yes')
    expect(await doctor()).toContain('claude-code asks this gate by hooks, and no call has come')
    const [token = ''] = /sluice_[0-9a-f]{64}/.exec(readFileSync(settings(), 'utf8')) ?? []
    await sluice(['up', '--ensure', '--config', config])
    await post(
      { hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command: 'ls' } },
      token,
    )
    expect(await doctor()).toMatch(
      /claude-code asks this gate by hooks, the last call came at 20\d\d-/,
    )
    const other = join(root, 'other', 'sluice.yaml')
    mkdirSync(join(root, 'other'))
    writeFileSync(other, `version: 1\nlisten: 127.0.0.1:${await freePort()}\nservers: {}\n`)
    const elsewhere = `asks another gate by hooks, at http://127.0.0.1:${port}`
    expect(await doctor(other)).toContain(elsewhere)
    expect(await status(other)).toContain(`claude-code asks another gate, at http://127.0.0.1`)
    writeFileSync(settings(), `// mine\n${readFileSync(settings(), 'utf8')}`)
    expect(await doctor()).toContain('claude-code may not read its hooks')
    expect(await status()).toContain('it may not read its settings')
  })

  test('N13: a gate that clients have started is no conflict on its own port', async () => {
    await init('--hooks', 'claude-code', '--yes')
    await sluice(['up', '--ensure', '--config', config])
    expect(await status()).toContain(`at http://127.0.0.1:${port}`)
    expect(await doctor()).not.toContain('is not free')
  })
})
