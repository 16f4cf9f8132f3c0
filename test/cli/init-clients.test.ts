// `sluice init --hooks` for clients that have no settings with hooks, or were never tried with Sluice, and what
// `doctor` says of hooks by which a call would be decided twice.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { writePlugin } from '../../packages/cli/src/init/files/json-hooks.ts'
import { readConfig } from '../../packages/gateway/src/config/config.ts'
import { ROOT } from '../support/modules.ts'
import { sluice } from '../support/run-sluice.ts'
import { scratchDirectory } from '../support/scratch.ts'

let home: string
let config: string

beforeEach(() => {
  const root = scratchDirectory()
  home = join(root, 'home')
  config = join(root, 'gate', 'sluice.yaml')
  for (const folder of ['.config/opencode', '.cursor', '.copilot', '.claude'])
    mkdirSync(join(home, folder), { recursive: true })
  vi.stubEnv('HOME', home)
  for (const name of ['CLAUDE_CONFIG_DIR', 'CODEX_HOME', 'COPILOT_HOME']) vi.stubEnv(name, '')
  return () => vi.unstubAllEnvs()
})

const init = (...args: string[]) => sluice(['init', '--config', config, ...args])
const doctor = async () => (await sluice(['doctor', '--config', config])).stdout
const status = async () => (await sluice(['status', '--config', config])).stdout
const readGate = () =>
  readConfig({ file: config, text: readFileSync(config, 'utf8') }, { HOME: home })

describe('opencode', () => {
  const plugin = () => join(home, '.config/opencode/plugins/sluice.js')

  test('gets a plugin that has the lines, once, and loses it again', async () => {
    expect((await init('--hooks', 'opencode', '--yes')).code).toBe(0)
    const text = readFileSync(plugin(), 'utf8')
    expect(text).toContain('/hooks/opencode')
    const { Sluice } = (await import(plugin())) as { readonly Sluice: unknown }
    expect(Sluice).toBeTypeOf('function')
    expect((await init('--hooks', 'opencode', '--yes')).stdout).toContain('there already')
    expect(await status()).toContain('hooks: opencode asks, goes on if the gate is down')
    expect((await init('--undo')).code).toBe(0)
    expect(existsSync(plugin())).toBe(false)
  })

  test.each([
    ['echo no >&2; exit 2', 'no'],
    ['exit 1', 'sluice: the hook ended with 1'],
    ['kill -KILL $$', 'sluice: the hook ended with SIGKILL'],
  ])('blocks a call whose hook is `%s`', async (command, why) => {
    const text = readFileSync(join(ROOT, 'packages/cli/bin/opencode-plugin.js'), 'utf8')
    const file = join(home, 'ending.mjs')
    writeFileSync(file, writePlugin(text, [['tool.execute.before', { command }]]))
    const { Sluice } = await import(`${file}?${encodeURIComponent(command)}`)
    const plugin = await Sluice({ client: {}, directory: home })
    const call = { tool: 'bash', sessionID: 's', callID: 'c' }
    const before = plugin['tool.execute.before'](call, { args: {} })
    await expect(before).rejects.toThrow(why)
  })

  test('has no settings for a whole machine', async () => {
    const { code, stderr } = await init('--managed', '--hooks', 'opencode', '--yes')
    expect([code, stderr]).toEqual([2, expect.stringContaining('no settings for a whole machine')])
  })
})

describe('a client that was never tried', () => {
  test('gets no hooks without --untested', async () => {
    const { code, stderr } = await init('--hooks', 'cursor', '--yes')
    expect([code, stderr]).toEqual([2, expect.stringContaining('was never tried with Sluice')])
    await init('--hooks', '--yes')
    expect(existsSync(join(home, '.cursor/hooks.json'))).toBe(false)
  })

  test('is only observed, and status says that it was not tried', async () => {
    expect((await init('--untested', '--hooks', 'cursor', 'vscode', '--yes')).code).toBe(0)
    const written = readFileSync(join(home, '.cursor/hooks.json'), 'utf8')
    expect(written).toContain(' open before')
    expect(written).not.toContain('failClosed')
    const { config: read, problems } = readGate()
    expect(problems).toEqual([])
    expect(read?.grants.map(({ hooks, policy }) => [hooks, policy])).toEqual([
      ['cursor', 'observed'],
      ['vscode', 'observed'],
    ])
    expect(readFileSync(join(config, '../observed.yaml'), 'utf8')).toContain('mode: shadow')
    expect(await status()).toContain(
      'cursor asks, goes on if the gate is down; not tried with this client',
    )
  })

  test.each([
    ['cursor', '--enforce', 'whether it stops without a gate was never tried'],
    ['opencode', '--dry-run', 'was tried with Sluice, so --untested is not for it'],
  ])('%s with --untested and %s is refused', async (client, option, why) => {
    const { code, stderr } = await init('--untested', '--hooks', client, option, '--yes')
    expect([code, stderr]).toEqual([2, expect.stringContaining(why)])
    expect(existsSync(config)).toBe(false)
  })
})

describe('doctor', () => {
  test('finds a call that two clients would have decided', async () => {
    await init('--hooks', 'copilot', 'claude-code', '--yes')
    expect(await doctor()).not.toContain('twice')
    await init('--untested', '--hooks', 'vscode', '--yes')
    const file = join(home, '.copilot/hooks/sluice.json')
    expect(await doctor()).toContain(
      `each call of vscode may be decided twice: it also runs the hooks of copilot in ${file}`,
    )
  })

  test('finds two hooks for one call in a file', async () => {
    await init('--hooks', 'copilot', '--yes')
    const file = join(home, '.copilot/hooks/sluice.json')
    const settings = JSON.parse(readFileSync(file, 'utf8'))
    settings.hooks.PreToolUse.push(settings.hooks.PreToolUse[0])
    writeFileSync(file, JSON.stringify(settings))
    expect(await doctor()).toContain(`each call of copilot is decided 2 times: as many hooks in`)
  })
})
