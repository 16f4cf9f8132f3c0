// The clients of a machine on disk: every client's file found, its servers moved and taken back, byte
// for byte; what stays and why; and another program writing the same file all the while.

// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables as clients write them

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { scratchDirectory } from '../../../../../test/support/scratch.ts'
import { changeFile } from '../files/change-file.ts'
import { CLIENTS, type McpClientId } from '../files/client.ts'
import { clientFiles, type Machine } from '../files/client-files.ts'
import { findServers } from './find-servers.ts'
import { gateEntry } from './gate-entry.ts'
import { type EntryMove, moveEntries, undoMoves } from './move-entries.ts'
import { nameServers } from './name-servers.ts'

const WINDOWS = {
  APPDATA: 'C:\\Users\\ann\\AppData\\Roaming',
  LOCALAPPDATA: 'C:\\Users\\ann\\AppData\\Local',
}

function machine(over: Partial<Machine> = {}): Machine {
  const list = () => []
  return { platform: 'linux', home: '/u/ann', environment: {}, projects: [], list, ...over }
}

test('where each client keeps its servers, on Linux, macOS and Windows', () => {
  const files = (over: Partial<Machine>, client: McpClientId) =>
    clientFiles(machine(over))
      .filter((one) => one.client === client)
      .map(({ file }) => file)
  const mac = { platform: 'darwin', home: '/Users/ann' }
  const windows = { platform: 'win32', home: 'C:\\Users\\ann', environment: WINDOWS }
  expect(files({}, 'claude-code')).toEqual(['/u/ann/.claude.json'])
  expect(files({ environment: { CLAUDE_CONFIG_DIR: '/c' } }, 'claude-code')).toEqual([
    '/c/.claude.json',
  ])
  expect(files({}, 'claude-desktop')).toEqual(['/u/ann/.config/Claude/claude_desktop_config.json'])
  expect(files(mac, 'claude-desktop')).toEqual([
    '/Users/ann/Library/Application Support/Claude/claude_desktop_config.json',
  ])
  const packaged = (folder: string) => (folder.endsWith('Packages') ? ['Claude_x1', 'Other'] : [])
  expect(files({ ...windows, list: packaged }, 'claude-desktop')).toEqual([
    'C:\\Users\\ann\\AppData\\Local\\Packages\\Claude_x1\\LocalCache\\Roaming\\Claude\\claude_desktop_config.json',
    'C:\\Users\\ann\\AppData\\Roaming\\Claude\\claude_desktop_config.json',
  ])
  expect(files({ projects: ['/p'] }, 'cursor')).toEqual([
    '/u/ann/.cursor/mcp.json',
    '/p/.cursor/mcp.json',
  ])
  expect(files(mac, 'vscode')[0]).toBe('/Users/ann/Library/Application Support/Code/User/mcp.json')
  expect(files(windows, 'vscode')[0]).toBe('C:\\Users\\ann\\AppData\\Roaming\\Code\\User\\mcp.json')
  const profiles = (folder: string) => (folder.endsWith('Code/User/profiles') ? ['-1a'] : [])
  expect(files({ list: profiles, projects: ['/p'] }, 'vscode')).toEqual([
    '/u/ann/.config/Code/User/mcp.json',
    '/u/ann/.config/Code - Insiders/User/mcp.json',
    '/u/ann/.config/Code/User/profiles/-1a/mcp.json',
    '/p/.vscode/mcp.json',
  ])
  expect(files(windows, 'windsurf')[0]).toBe('C:\\Users\\ann\\.codeium\\windsurf\\mcp_config.json')
  expect(files({ environment: { CODEX_HOME: '/x' } }, 'codex')).toEqual(['/x/config.toml'])
  expect(files({ projects: ['/p'] }, 'copilot')).toEqual([
    '/u/ann/.copilot/mcp-config.json',
    '/p/.github/mcp.json',
  ])
  expect(files({ environment: { COPILOT_HOME: '/o' } }, 'copilot')).toEqual(['/o/mcp-config.json'])
  expect(files(mac, 'gemini')).toEqual(['/Users/ann/.gemini/settings.json'])
})

/** A file of each client, with what only that client takes. */
const SAMPLES: Readonly<Record<string, string>> = {
  '.claude.json': `{
  "numStartups": 3,
  "mcpServers": {
    "notes": { "type": "stdio", "command": "npx", "args": ["-y", "notes"], "env": { "NOTES_KEY": "n0tes" } },
    "hub": { "type": "http", "url": "https://hub.example/mcp", "headers": { "Authorization": "Bearer \${HUB}" } },
    "unset": { "command": "x", "args": ["\${UNSET}"] },
    "folder": { "command": "x", "env": { "BASE": "\${PWD}" } },
    "stream": { "type": "sse", "url": "https://old.example/sse" }
  },
  "projects": {
    "PROJECT": { "mcpServers": { "here": { "command": "./run", "args": [".", "\${PWD}"] } }, "disabledMcpjsonServers": ["no"] }
  }
}
`,
  '.config/Claude/claude_desktop_config.json':
    '{"mcpServers":{"notes":{"command":"npx","args":["-y","notes"],"env":{"NOTES_KEY":"n0tes"}},"raw":{"command":"x","args":["${KEPT}"]}},"scale":1}',
  '.cursor/mcp.json': `\uFEFF{\r\n\t// all mine\r\n\t"mcpServers": {\r\n\t\t"db": { "command": "db", "args": ["\${env:HUB}", "\${userHome}/a",], "autoApprove": ["q"], },\r\n\t\t"file": { "command": "x", "envFile": ".env" },\r\n\t},\r\n}\r\n`,
  '.config/Code/User/mcp.json': `{
  "inputs": [{ "id": "key", "type": "promptString", "password": true }],
  "servers": {
    "ask": { "type": "stdio", "command": "x", "env": { "K": "\${input:key}" } },
    "web": { "type": "http", "url": "https://web.example/mcp", /* fast */ "gallery": true },
    "boxed": { "command": "x", "sandboxEnabled": true, "sandbox": { "filesystem": { "denyRead": ["~/.ssh"] } } },
    "locked": { "command": "y", "sandboxEnabled": true, "sandbox": { "filesystem": { "allowWrite": ["~/notes"] }, "network": { "allowedDomains": ["*.notes.example"] } } },
  },
}`,
  '.copilot/mcp-config.json':
    '{ "mcpServers": { "pilot": { "type": "local", "command": "pilot", "env": { "A": "$HUB" }, "tools": ["*"] } } }\n',
  '.codeium/windsurf/mcp_config.json':
    '{\n    "mcpServers": {\n        "off": { "command": "x", "disabled": true },\n        "far": { "serverUrl": "https://far.example/mcp", "headers": { "X-Key": "abc" }, "disabledTools": ["t"] }\n    }\n}\n',
  '.codex/config.toml': `model = "m" # mine
[mcp_servers.docs]
command = "docs"
env_vars = ["HUB"]
startup_timeout_sec = 20

  [mcp_servers.docs.env]
  DOCS_TOKEN = 'd0cs'

[mcp_servers.far]
url = "https://far.example/mcp"
bearer_token_env_var = "HUB"

[mcp_servers.off]
command = "x"
enabled = false
`,
  '.gemini/settings.json': `{
  // comments are fine here
  "mcp": { "excluded": ["out"] },
  "mcpServers": {
    "g": { "command": "g", "env": { "A": "$HUB" }, "trust": false, "timeout": 9 },
    "out": { "command": "x" },
    "login": { "httpUrl": "https://l.example/mcp", "oauth": { "enabled": true } }
  }
}
`,
}

function home(): { root: string; project: string; machine: Machine; record: string } {
  const root = scratchDirectory()
  const project = join(root, 'project')
  for (const [name, text] of Object.entries(SAMPLES)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), text.replaceAll('PROJECT', project))
  }
  mkdirSync(join(project, '.vscode'), { recursive: true })
  writeFileSync(
    join(project, '.mcp.json'),
    '{"mcpServers":{"team":{"command":"team"},"no":{"command":"x"}}}',
  )
  writeFileSync(
    join(project, '.vscode', 'mcp.json'),
    '{"servers":{"work":{"command":"${workspaceFolder}/run"}}}',
  )
  const environment = { HUB: 'hub-secret' }
  return {
    root,
    project,
    record: join(root, 'sluice.moved.json'),
    machine: machine({ home: root, environment, projects: [project] }),
  }
}

async function movesOf(here: Machine): Promise<EntryMove[]> {
  const { servers } = await findServers(here)
  const named = nameServers(servers, new Map(), here.environment, () => false)
  const gate = { sluice: ['/bin/sluice'], config: '/g/sluice.yaml' }
  return named.flatMap(({ name, found }) =>
    found.map(({ from, entry }) => ({
      from,
      path: entry.path,
      server: name,
      was: entry.value,
      now: gateEntry(from.client, name, gate, entry.value),
    })),
  )
}

async function moveEverything(here: Machine, record: string): Promise<number> {
  const moves = await movesOf(here)
  let count = 0
  for (const file of new Set(moves.map(({ from }) => from.file)))
    count += (
      await moveEntries(
        record,
        moves.filter(({ from }) => from.file === file),
      )
    ).length
  return count
}

function everything(root: string): Map<string, string> {
  const names = [...Object.keys(SAMPLES), 'project/.mcp.json', 'project/.vscode/mcp.json']
  return new Map(names.map((name) => [name, readFileSync(join(root, name), 'utf8')]))
}

test('a sample of every client: what can be moved, what stays and why', async () => {
  const { machine: here, project } = home()
  const { servers, broken } = await findServers(here)
  expect(broken).toEqual([])
  expect(new Set(servers.map(({ from }) => from.client))).toEqual(new Set(Object.keys(CLIENTS)))
  const stays = Object.fromEntries(
    servers.flatMap(({ entry, reading }) =>
      'stays' in reading ? [[entry.name, reading.stays]] : [],
    ),
  )
  expect(stays).toEqual({
    unset: 'the environment has no `UNSET`: set it and run init again',
    folder: '`PWD` is another one for each client, and the gate starts one server for all',
    stream: 'it speaks the old SSE transport',
    file: 'it takes its variables from a file (`envFile`)',
    ask: 'it asks you for `key` when it starts',
    boxed: 'its sandbox denies what the gate’s can only leave out',
    off: 'it is switched off',
    out: 'it is switched off',
    no: 'it is switched off',
    login: 'it has a login that the client holds',
  })
  const named = nameServers(servers, new Map(), here.environment, () => false)
  const written = Object.fromEntries(named.map(({ name, server }) => [name, server]))
  // The same server of two clients stands there once; keys stand by their names.
  expect(written.notes).toEqual({
    command: ['npx', '-y', 'notes'],
    cwd: here.home,
    env: { NOTES_KEY: '${SLUICE_NOTES_NOTES_KEY}' },
  })
  expect(named.find(({ name }) => name === 'notes')?.found).toHaveLength(2)
  expect(written.locked).toEqual({
    command: ['y'],
    cwd: here.home,
    sandbox: { read: [here.home], write: [join(here.home, 'notes')], hosts: ['*.notes.example'] },
  })
  expect(written.hub).toEqual({
    url: 'https://hub.example/mcp',
    headers: { Authorization: 'Bearer ${HUB}' },
  })
  expect(written.here).toEqual({ command: ['./run', '.', project], cwd: project })
  expect(written.raw?.command).toEqual(['x', '${SLUICE_RAW_ARG_1}'])
  expect(written.db?.command).toEqual(['db', '${HUB}', `${here.home}/a`])
  expect(written.far).toEqual({
    url: 'https://far.example/mcp',
    headers: { 'X-Key': '${SLUICE_FAR_X_KEY}' },
  })
  expect(written['far-codex']?.headers).toEqual({ Authorization: 'Bearer ${HUB}' })
  expect(written.docs?.env).toEqual({ DOCS_TOKEN: '${SLUICE_DOCS_DOCS_TOKEN}', HUB: '${HUB}' })
  expect(written.pilot).toEqual({ command: ['pilot'], cwd: here.home, env: { A: '${HUB}' } })
  expect(written.work?.command).toEqual([`${project}/run`])
  const keys = new Map(named.flatMap((one) => [...one.keys]))
  expect(keys.get('SLUICE_DOCS_DOCS_TOKEN')).toBe('d0cs')
  expect(keys.get('SLUICE_RAW_ARG_1')).toBe('${KEPT}')
  expect(keys.get('HUB')).toBe('hub-secret')
})

test('moved and taken back, every file is the same, byte for byte, with its mode and its link', async () => {
  const { root, machine: here, record } = home()
  const cursor = join(root, '.cursor', 'mcp.json')
  const real = join(root, 'dotfiles.json')
  writeFileSync(real, readFileSync(cursor))
  chmodSync(real, 0o640)
  unlinkSync(cursor)
  symlinkSync(real, cursor)
  const before = everything(root)
  expect(await moveEverything(here, record)).toBe(15)
  expect(statSync(record).mode & 0o777).toBe(0o600)
  const between = everything(root)
  expect([...between.values()].join('')).not.toMatch(/n0tes|d0cs/)
  for (const name of before.keys()) expect(between.get(name)).not.toBe(before.get(name))
  // Nothing is left to move.
  expect(await moveEverything(here, record)).toBe(0)
  const undone = await undoMoves(record)
  expect(undone.map(({ fate }) => fate)).toEqual(Array(15).fill('restored'))
  expect(everything(root)).toEqual(before)
  expect(lstatSync(cursor).isSymbolicLink()).toBe(true)
  expect(statSync(real).mode & 0o777).toBe(0o640)
  expect(() => statSync(record)).toThrow()
})

/** Rewrites the file as Claude Code does, all the time: under its lock it reads all, changes its own
 * and writes all. Ends with an error where anything of its own is gone. */
const WRITER = `
import { mkdirSync, readFileSync, renameSync, rmdirSync, writeFileSync } from 'node:fs'
const [file, way] = process.argv.slice(1)
let own = 0
const step = () => {
  setTimeout(step, 2)
  try { mkdirSync(file + '.lock') } catch { return }
  const state = JSON.parse(readFileSync(file, 'utf8'))
  if ((state.writes ?? 0) !== own) throw new Error('lost: ' + state.writes + ' of ' + own)
  state.writes = ++own
  const text = JSON.stringify(state, null, 2) + '\\n'
  if (way === 'in place') writeFileSync(file, text)
  else { writeFileSync(file + '.tmp', text); renameSync(file + '.tmp', file) }
  rmdirSync(file + '.lock')
  if (own === 1) console.log('writing')
}
process.on('SIGTERM', () => { console.log('wrote ' + own); process.exit(0) })
step()
`

test.each(['in place', 'by rename'])(
  'a client that rewrites its file %s all the while loses nothing, and neither do we',
  async (way) => {
    const { root, machine: here, record } = home()
    const file = join(root, '.claude.json')
    const before = JSON.parse(readFileSync(file, 'utf8'))
    const moves = (await movesOf(here)).filter(({ from }) => from.file === file)
    const writer = spawn(process.execPath, ['--input-type=module', '-e', WRITER, '--', file, way])
    const exited = once(writer, 'exit')
    let output = ''
    const hear = (chunk: Buffer) => {
      output += chunk.toString()
    }
    writer.stdout.on('data', hear)
    writer.stderr.on('data', hear)
    await Promise.race([once(writer.stdout, 'data'), exited])
    try {
      expect(await moveEntries(record, moves)).toHaveLength(3)
      const between = JSON.parse(await whole(file))
      expect(between.mcpServers.notes.command).toBe('/bin/sluice')
      const undone = await undoMoves(record)
      expect(undone.map(({ fate }) => fate)).toEqual(['restored', 'restored', 'restored'])
    } finally {
      writer.kill('SIGTERM')
      await exited
    }
    expect(output).toMatch(/^writing\nwrote \d+\n$/)
    const { writes, ...after } = JSON.parse(readFileSync(file, 'utf8'))
    expect(after).toEqual(before)
    expect(writes).toBe(Number(/wrote (\d+)/.exec(output)?.[1]))
  },
)

/** Once it is not being written. */
async function whole(file: string): Promise<string> {
  for (;;) {
    const text = readFileSync(file, 'utf8')
    if (text.endsWith('}\n')) return text
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

test('a file that changes each time it is read is given up, untouched', async () => {
  const file = join(scratchDirectory(), 'a.json')
  writeFileSync(file, '0')
  let count = 0
  const busy = changeFile(file, () => {
    writeFileSync(file, `${++count}`)
    return 'ours'
  })
  await expect(busy).rejects.toThrow(/written by somebody else/)
  expect(readFileSync(file, 'utf8')).toBe(`${count}`)
  expect(readdirSync(dirname(file))).toEqual(['a.json'])
})

test('a file that is not there is not forgotten', async () => {
  const { root, machine: here, record } = home()
  await moveEverything(here, record)
  const file = join(root, '.cursor', 'mcp.json')
  const moved = readFileSync(file, 'utf8')
  unlinkSync(file)
  const left = (await undoMoves(record)).filter(({ fate }) => fate === 'no file')
  expect(left.map(({ moved: one }) => one.path.at(-1))).toEqual(['db'])
  writeFileSync(file, moved)
  expect((await undoMoves(record)).map(({ fate }) => fate)).toEqual(['restored'])
  expect(readFileSync(file, 'utf8')).toBe(SAMPLES['.cursor/mcp.json'])
})

test('a file that is empty for a moment is waited for: nothing counts as gone', async () => {
  const { root, machine: here, record } = home()
  const file = join(root, '.claude.json')
  const before = readFileSync(file, 'utf8')
  const moves = (await movesOf(here)).filter(({ from }) => from.file === file)
  const cut = (text: string) => {
    writeFileSync(file, '')
    setTimeout(() => writeFileSync(file, text), 80)
  }
  cut(before)
  expect(await moveEntries(record, moves)).toHaveLength(3)
  cut(readFileSync(file, 'utf8'))
  expect((await undoMoves(record)).map(({ fate }) => fate)).toEqual(Array(3).fill('restored'))
  expect(readFileSync(file, 'utf8')).toBe(before)
})
