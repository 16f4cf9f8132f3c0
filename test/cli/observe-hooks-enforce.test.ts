// The documented way to a coding agent behind the gate: observe, hooks, enforce. After it the day's work passes and
// what a careful developer wants to be asked about waits, without another command.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { freePort } from '../support/postgres.ts'
import { sluice } from '../support/run-sluice.ts'
import { scratchDirectory } from '../support/scratch.ts'
import { published } from '../support/start-gate.ts'

let root: string
let home: string
let config: string
let port: number
let calls = 0

beforeEach(async () => {
  root = scratchDirectory()
  home = join(root, 'home')
  config = join(root, 'gate', 'sluice.yaml')
  for (const folder of ['home/.claude', 'gate', 'shop'])
    mkdirSync(join(root, folder), { recursive: true })
  vi.stubEnv('HOME', home)
  for (const name of ['CLAUDE_CONFIG_DIR', 'CODEX_HOME', 'COPILOT_HOME']) vi.stubEnv(name, '')
  const [command, ...args] = published('memory').command
  writeFileSync(
    join(home, '.claude.json'),
    JSON.stringify({ mcpServers: { memory: { type: 'stdio', command, args } } }),
  )
  port = await freePort()
})
afterEach(async () => {
  await sluice(['stop', '--config', config])
  vi.unstubAllEnvs()
})

const run = async (...words: string[]) => {
  const ran = await sluice([...words, '--config', config])
  expect(ran.code, ran.stdout + ran.stderr).toBe(0)
  return ran.stdout
}
const policy = () => readFileSync(join(root, 'gate', 'policy.yaml'), 'utf8')

async function observe(): Promise<void> {
  await run('init', '--observe', '--yes', '--move', '--project', join(root, 'shop'))
  const text = readFileSync(config, 'utf8')
  writeFileSync(config, text.replace('servers:', `listen: 127.0.0.1:${port}\nservers:`))
}

/** What the hook of Claude Code is answered before a tool runs; an empty text lets it go on. */
async function before(tool_name: string, tool_input: object): Promise<string> {
  const settings = readFileSync(join(home, '.claude', 'settings.json'), 'utf8')
  const [token = ''] = /sluice_[0-9a-f]{64}/.exec(settings) ?? []
  const event = { hook_event_name: 'PreToolUse', session_id: 's', cwd: join(root, 'shop') }
  const response = await fetch(`http://127.0.0.1:${port}/hooks/claude-code`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({
      ...event,
      tool_name,
      tool_input,
      tool_use_id: `call-${++calls}`,
    }),
  })
  expect(response.status).toBe(200)
  const { hookSpecificOutput: output } = (await response.json()) as {
    hookSpecificOutput?: { permissionDecision?: string; permissionDecisionReason?: string }
  }
  if (output?.permissionDecision !== 'deny') return ''
  return String(output.permissionDecisionReason)
}

const bash = (command: string) => before('Bash', { command })

test('N3: observe, hooks, enforce needs no other command', async () => {
  await observe()
  expect(await run('init', '--hooks', '--yes')).toContain('the pack `coding-agent`')
  expect(policy()).toContain('claude-code/Bash')
  await run('up', '--ensure')
  // Observed: everything passes.
  expect(await bash('git push --force')).toBe('')
  const enforced = await run('enforce', '--yes')
  expect(enforced).toContain('enforced:')
  expect(enforced).not.toContain('policy add')
  expect(await bash('npm test')).toBe('')
  expect(await bash('git commit -m "Default the quantity to 1"')).toBe('')
  const file_path = join(root, 'shop', 'cart.js')
  expect(await before('Edit', { file_path, old_string: 'n', new_string: 'n = 1' })).toBe('')
  expect(await bash('git push --force')).toMatch(/approv/)
  // The same again adds nothing.
  const once = policy()
  await run('init', '--hooks', '--yes')
  expect(policy()).toBe(once)
})

test('N3: without the pack `enforce` and the denial name the command', async () => {
  await observe()
  await run('init', '--hooks', '--yes')
  const plain = policy().replace(/\n[ ]*# From the pack[\s\S]*?(?=\n\w|$)/g, '')
  writeFileSync(join(root, 'gate', 'policy.yaml'), plain.split('\nlabels:')[0] as string)
  await run('up', '--ensure')
  const command = 'sluice policy add coding-agent --server claude-code'
  expect(await run('enforce', '--yes')).toContain(command)
  expect(await bash('npm test')).toContain(command)
})
