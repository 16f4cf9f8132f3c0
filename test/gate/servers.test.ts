// Seven published servers behind the real gate, each listed byte by byte as it lists itself but for
// the policy, and each called by a client of SDK v2, some by the inspector's command line; what a
// client of SDK v1 does with three of them is in gate.test.ts.

import { execFileSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inspect } from '../support/inspect.ts'
import { listDirectly, listGated } from '../support/list-tools.ts'
import { throughGate } from '../support/real-client.ts'
import { forms } from '../support/runs.ts'
import { fileScratchDirectory } from '../support/scratch.ts'
import {
  endGates,
  installed,
  published,
  type RunningGate,
  startGate,
} from '../support/start-gate.ts'

const folder = fileScratchDirectory()
const database = join(folder, 'a.db')
const HOME = { HOME: folder }
const servers = {
  everything: published('everything'),
  filesystem: published('filesystem', folder),
  memory: { ...published('memory'), env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') } },
  thinking: published('sequential-thinking'),
  sqlite: { ...installed('mcp-sqlite-tools/dist/index.js'), env: { SQLITE_DEFAULT_PATH: folder } },
  git: { ...installed('@cyanheads/git-mcp-server/dist/index.js'), env: HOME },
  commands: installed('mcp-server-commands/build/index.js'),
}
type Name = keyof typeof servers
const NAMES = Object.keys(servers) as Name[]
const HIDDEN: Partial<Record<Name, string>> = {
  everything: 'get-env',
  sqlite: 'drop_table',
  git: 'git_push',
}
const POLICY = `
version: 1
default: allow
tools:
  sqlite/drop_table: hide
  git/git_push: hide
  everything/get-env: hide
  commands/run_command:
    when: args.command.startsWith("rm")
    action: deny
    reason: nothing goes
    otherwise: allow
`
const thought = { thought: 'a gate', thoughtNumber: 1, totalThoughts: 1, nextThoughtNeeded: false }
/** A call, and what its answer has to tell. */
const CALLS: Record<Name, [name: string, args: Record<string, unknown>, tells: string]> = {
  everything: ['echo', { message: 'through' }, 'Echo: through'],
  filesystem: ['read_text_file', { path: join(folder, 'hello.txt') }, 'read through the gate'],
  memory: ['read_graph', {}, 'entities'],
  thinking: ['sequentialthinking', thought, 'thoughtHistoryLength'],
  sqlite: ['execute_read_query', { query: 'select x from n', database_name: database }, '42'],
  git: ['git_log', { path: folder }, 'the first commit'],
  commands: ['run_command', { command: 'echo $((6 * 7))' }, '42'],
}

let gate: RunningGate

beforeAll(async () => {
  writeFileSync(join(folder, 'hello.txt'), 'read through the gate')
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: folder })
  git('init', '-q')
  git('add', 'hello.txt')
  git('commit', '-qm', 'the first commit')
  const made = new DatabaseSync(database)
  made.exec('create table n (x); insert into n values (42)')
  made.close()
  gate = await startGate({ servers, policy: POLICY })
})
afterAll(async () => {
  await endGates()
})

const url = (name: Name): string => `${gate.url}/mcp/${name}`

describe.each(forms(NAMES, 2))('%s', (name) => {
  test('lists the same tools, byte by byte, but for the policy', async () => {
    const [direct, gated] = await Promise.all([listDirectly(servers[name]), listGated(gate, name)])
    const hidden = direct.filter((text) => JSON.parse(text).name === HIDDEN[name])
    expect(hidden).toHaveLength(name in HIDDEN ? 1 : 0)
    expect(gated).toEqual(direct.filter((text) => !hidden.includes(text)))
    expect(gated.length).toBeGreaterThan(0)
  })

  test('is called by a client of the second SDK', async () => {
    const [tool, args, tells] = CALLS[name]
    const client = new Client({ name: 'second', version: '1' })
    await client.connect(new StreamableHTTPClientTransport(new URL(url(name))))
    const answer = await client.callTool({ name: tool, arguments: args })
    expect(JSON.stringify(answer)).toContain(tells)
    expect(answer.isError ?? false).toBe(false)
    await client.close()
  })
})

test('the command line of the inspector lists and calls', async () => {
  const { tools } = await inspect(folder, url('sqlite'), '--method', 'tools/list')
  const names = tools.map((tool: { name: string }) => tool.name)
  expect(names).toContain('execute_read_query')
  expect(names).not.toContain('drop_table')
  const run = (command: string) => {
    const options = ['--tool-name', 'run_command', '--tool-arg', `command=${command}`]
    return inspect(folder, url('commands'), '--method', 'tools/call', ...options)
  }
  expect(JSON.stringify(await run('echo $((6 * 7))'))).toContain('42')
})

test('what the policy denies is not done, whoever asks', async () => {
  const path = join(folder, 'hello.txt')
  const { client, close } = await throughGate(gate, 'commands')
  const call = { name: 'run_command', arguments: { command: `rm ${path}` } }
  const denied = await client.callTool(call)
  expect(denied.content).toEqual([{ type: 'text', text: 'denied by policy: nothing goes' }])
  const options = ['--tool-name', 'run_command', '--tool-arg', `command=rm ${path}`]
  const inspected = inspect(folder, url('commands'), '--method', 'tools/call', ...options)
  await expect(inspected).rejects.toThrow('isError:true')
  expect(existsSync(path)).toBe(true)
  await close()
})
