// `sluice init` as a user runs it, on published servers and a real gate: nothing starts unasked, what
// is written works behind the gate, the suggested rules stop what they are for and leave the rest
// working, and `--undo` leaves the clients' files as they were.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Category, Risk, ToolDefinition } from '@sluice/policy/calls/tools'
import { sampleFacts } from '@sluice/policy/cases/sample-facts'
import { compile } from '@sluice/policy/compile/compile'
import { MemoryCounters } from '@sluice/policy/counters/memory-counters'
import { decide } from '@sluice/policy/decide/decide'
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { agreeAtTerminal } from '../support/person.ts'
import { freePort } from '../support/postgres.ts'
import { straight } from '../support/real-client.ts'
import { sluice, sluiceJson } from '../support/run-sluice.ts'
import { scratchDirectory } from '../support/scratch.ts'
import { NODE, published, SLUICE } from '../support/start-gate.ts'

vi.setConfig({ testTimeout: 90_000 })

let root: string
let home: string
let config: string
let before: string
/** As editors leave files behind: byte order mark, CRLF, tabs, comments, commas, no end of line. */
let odd: string

beforeEach(() => {
  root = scratchDirectory()
  home = join(root, 'home')
  config = join(root, 'sluice.yaml')
  mkdirSync(join(root, 'project'))
  mkdirSync(home)
  const graph = join(root, 'graph.json')
  const mcpServers = {
    notes: {
      type: 'stdio',
      command: NODE,
      args: published('memory').command.slice(1),
      env: { MEMORY_FILE_PATH: graph, NOTES_TOKEN: 'a-secret-value' },
    },
    files: { command: NODE, args: published('filesystem', root).command.slice(1) },
    asked: { command: 'touch', args: [join(root, 'started'), `\${UNSET_FOR_INIT}`] },
    dead: { command: NODE, args: ['-e', 'process.exit(3)'] },
  }
  before = `${JSON.stringify({ numStartups: 1, mcpServers }, null, 2)}\n`
  writeFileSync(join(home, '.claude.json'), before)
  const [, ...memory] = published('memory').command.map((word) => JSON.stringify(word))
  odd = `\uFEFF{\r\n\t// mine\r\n\t"mcpServers": {\r\n\t\t"odd": { "command": ${JSON.stringify(NODE)},\t"args": [${memory.join(', ')},], "env": { "MEMORY_FILE_PATH": ${JSON.stringify(join(root, 'odd.json'))} } /* keep */ },\r\n\t},\r\n}`
  mkdirSync(join(home, '.cursor'))
  writeFileSync(join(home, '.cursor', 'mcp.json'), odd)
  const evil = { mcpServers: { evil: { command: 'touch', args: [join(root, 'started')] } } }
  writeFileSync(join(root, 'project', '.mcp.json'), JSON.stringify(evil))
  const { HOME } = process.env
  process.env.HOME = home
  onTestFinished(() => {
    process.env.HOME = HOME
  })
})

function init(...args: string[]) {
  return sluice(['init', '--config', config, '--project', join(root, 'project'), ...args])
}

test('a dry run shows every line and does nothing; without a word nothing is agreed to', async () => {
  const dry = await init('--dry-run')
  expect(dry.code).toBe(0)
  expect(dry.stdout).toContain('"--server", "notes"')
  expect(dry.stdout).toContain(`SLUICE_NOTES_NOTES_TOKEN=${'*'.repeat(14)}`)
  expect(dry.stdout).not.toContain('a-secret-value')
  expect((await init('--dry-run', '--reveal')).stdout).toContain('a-secret-value')
  expect(dry.stdout).toContain('asked  stays: the environment has no `UNSET_FOR_INIT`')
  const silent = await init()
  expect(silent.code).toBe(1)
  expect(silent.stdout).toContain('no server was agreed to')
  expect((await init('--yes', 'nobody')).code).toBe(2)
  expect((await init('--undo')).code).toBe(2)
  for (const name of ['sluice.yaml', 'sluice.env', 'sluice.moved.json', 'started'])
    expect(existsSync(join(root, name)), name).toBe(false)
  expect(readFileSync(join(home, '.claude.json'), 'utf8')).toBe(before)
})

test('a client whose file cannot be written stays, with the reason; the others are moved', async () => {
  // Its own path fits, and a file beside it has a path that is too long: so for root too.
  const folder = root + `/${'x'.repeat(199)}`.repeat(21)
  const codex = folder.slice(0, 4_070)
  mkdirSync(codex, { recursive: true })
  const [, ...memory] = published('memory').command
  writeFileSync(
    join(codex, 'config.toml'),
    `[mcp_servers.far]\ncommand = "${NODE}"\nargs = ${JSON.stringify(memory)}\n`,
  )
  vi.stubEnv('CODEX_HOME', codex)
  onTestFinished(() => void vi.unstubAllEnvs())
  const ran = await init('--yes', 'far', 'odd', '--move', '--json')
  expect(ran.code, ran.stderr).toBe(0)
  const { moved, left } = JSON.parse(ran.stdout)
  expect(moved.map(({ server }: { server: string }) => server)).toEqual(['odd'])
  const { because } = left.find(({ name }: { name: string }) => name === 'far')
  expect(because).toMatch(/cannot be written: ENAMETOOLONG.*check owner and mode/)
  expect((await init('--yes', 'far', '--move')).code).toBe(1)
})

test('a project or a client gets an entry for a view, which works, and undo takes it away', async () => {
  const servers = {
    files: { command: published('filesystem', root).command },
    notes: { command: published('memory').command },
  }
  const views = { desk: { tools: ['files/read_*'], as: { 'files/read_text_file': 'open' } } }
  writeFileSync(config, JSON.stringify({ version: 1, servers, views, policy: './policy.yaml' }))
  writeFileSync(join(root, 'policy.yaml'), 'version: 1\ndefault: allow\n')
  const project = join(root, 'project', '.mcp.json')
  const there = readFileSync(project, 'utf8')
  expect((await init('--view', 'dsek', '--yes')).stderr).toContain('did you mean `desk`?')
  expect((await init('--view', 'desk', '--client', 'cursr')).stderr).toContain('cursor')
  expect((await init('--client', 'cursor')).code).toBe(2)
  expect((await init('--view', 'desk', '--dry-run')).stdout).toContain('"--view"')
  expect(readFileSync(project, 'utf8')).toBe(there)
  expect((await init('--view', 'desk', '--yes')).code).toBe(0)
  const toClient = await init('--view', 'desk', '--client', 'cursor', '--yes')
  expect(toClient.code, toClient.stderr).toBe(0)
  expect((await init('--view', 'desk', '--yes')).stdout).toContain('is there already')
  const { evil, desk } = JSON.parse(readFileSync(project, 'utf8')).mcpServers
  expect(evil).toEqual(JSON.parse(there).mcpServers.evil)
  expect(readFileSync(join(home, '.cursor', 'mcp.json'), 'utf8')).toContain('"--view"')
  const { client, close } = await straight([desk.command, ...desk.args])
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toContain('open')
  await close()
  expect((await init('--undo')).code).toBe(0)
  expect(readFileSync(project, 'utf8')).toBe(there)
  expect(readFileSync(join(home, '.cursor', 'mcp.json'), 'utf8')).toBe(odd)
})

test('what is moved works behind the gate, its policy holds, and undo leaves all as it was', async () => {
  const ran = await init('--yes', '--move', '--json')
  expect(ran.code, ran.stderr).toBe(0)
  const { moved, left, tools } = JSON.parse(ran.stdout)
  expect(moved.map(({ server }: { server: string }) => server)).toEqual(['notes', 'files', 'odd'])
  expect(left.map(({ name }: { name: string }) => name).sort()).toEqual(['asked', 'dead'])
  expect(existsSync(join(root, 'started'))).toBe(false)
  expect(statSync(join(root, 'sluice.env')).mode & 0o777).toBe(0o600)
  expect(readFileSync(config, 'utf8')).not.toContain('a-secret-value')

  const own = tools.filter(({ server }: Known) => server !== 'odd')
  const written = readFileSync(join(root, 'policy.yaml'), 'utf8')
  expect(written).toContain('\nprotect: balanced\n')
  holds(own, written)

  const gate = await up()
  const { mcpServers } = JSON.parse(readFileSync(join(home, '.claude.json'), 'utf8'))
  const { command, args } = mcpServers.notes
  const { client, close } = await straight([command, ...args])
  try {
    const entities = [{ name: 'Ann', entityType: 'person', observations: ['likes tea'] }]
    await client.callTool({ name: 'create_entities', arguments: { entities } })
    // Held for a person: whatever becomes of it, nothing is deleted.
    const held = client.callTool({ name: 'delete_entities', arguments: { entityNames: ['Ann'] } })
    held.catch(() => {})
    const graph = await client.callTool({ name: 'read_graph', arguments: {} })
    expect(JSON.stringify(graph)).toContain('likes tea')
    expect(readFileSync(join(root, 'graph.json'), 'utf8')).toContain('Ann')
  } finally {
    await close()
    gate.kill('SIGTERM')
    await once(gate, 'exit')
  }

  const report = await sluiceJson(['doctor', '--config', config])
  const linesOf = (status: string) =>
    report.checks.flatMap((each: { check: string; status: string; message: string }) =>
      each.status === status ? [`${each.check}: ${each.message}`] : [],
    )
  expect(report.ok).toBe(true)
  expect(linesOf('ok')).toContain('client: Claude Code: notes goes through this gate')
  expect(linesOf('warn')).toContain('client: Claude Code: dead does not go through a gate')
  expect(linesOf('warn').join()).toContain('nobody can approve')
  expect(linesOf('fail')).toEqual([])

  // A second run finds nothing to do, and says why.
  const again = await init('--yes', 'files', '--json').catch(() => undefined)
  expect(again?.code).toBe(2)
  const undone = await sluiceJson(['init', '--undo', '--config', config])
  const fates = undone.undone.map(({ fate }: { fate: string }) => fate)
  expect(fates).toEqual(['restored', 'restored', 'restored'])
  expect(readFileSync(join(home, '.claude.json'))).toEqual(Buffer.from(before))
  expect(readFileSync(join(home, '.cursor', 'mcp.json'))).toEqual(Buffer.from(odd))
  const broken = before.replace(
    /"dead": \{[^}]*\}/,
    '"dead": { "command": "/gone/node", "args": ["/gone/sluice.js", "stdio", "--server", "x"] }',
  )
  writeFileSync(join(home, '.claude.json'), broken)
  const sick = await sluice(['doctor', '--config', join(root, 'none.yaml')])
  expect(sick.code).toBe(1)
  expect(sick.stdout).toMatch(/fail {2}config .*there is no .*none\.yaml\n.*sluice init/)
  expect(sick.stdout).toContain('Claude Code: dead cannot start: /gone/node is gone')
})

test('F4: without --config the gate’s files go where no server is rooted, and undo finds them', async () => {
  const cwd = process.cwd()
  const outside = scratchDirectory()
  vi.stubEnv('XDG_CONFIG_HOME', outside)
  vi.stubEnv('XDG_STATE_HOME', join(root, 'state'))
  process.chdir(join(root, 'project'))
  onTestFinished(() => {
    process.chdir(cwd)
    vi.unstubAllEnvs()
  })
  // `files` is rooted above the folder.
  const dry = await sluice(['init', '--dry-run'])
  const place = join(outside, 'sluice')
  expect(dry.stderr).toContain(`the gate's files go to ${place}: `)
  expect(dry.stderr).toContain('is a directory of `files`')
  const result = await sluiceJson(['init', '--yes', 'notes', '--move'])
  expect(result.wrote).toEqual(
    ['sluice.yaml', 'policy.yaml', 'sluice.env'].map((name) => join(place, name)),
  )
  expect(statSync(place).mode & 0o777).toBe(0o700)
  expect(existsSync(join(root, 'project', 'sluice.yaml'))).toBe(false)
  expect(readFileSync(join(home, '.claude.json'), 'utf8')).toContain(join(place, 'sluice.yaml'))
  const undone = await sluiceJson(['init', '--undo'])
  expect(undone.undone).toMatchObject([{ fate: 'restored' }])
  // Where every place lies within a server's directory, the named one stays, with a warning.
  vi.stubEnv('XDG_CONFIG_HOME', join(root, 'config'))
  const inside = await sluice(['init', '--dry-run'])
  expect(inside.stderr).toContain("contain the gate's own files")
  expect(inside.stderr).not.toContain("the gate's files go to")
})

test('projects with servers of one name: each hint names its own, and answers at the terminal count', async () => {
  const odd = {
    name: 'ask',
    description: 'Asks',
    inputSchema: { properties: { llm_name: { type: 'string' } } },
  }
  const script = (tools: object[]) => `
    const answer = (id, result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }))
    require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method } = JSON.parse(line)
      if (method === 'initialize') answer(id, { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } })
      if (method === 'tools/list') answer(id, { tools: ${JSON.stringify(tools)} })
    })`
  const projects = ['one', 'two'].map((name) => {
    const folder = join(root, name)
    mkdirSync(folder)
    const same = { command: NODE, args: ['-e', script(name === 'one' ? [odd] : []), name] }
    writeFileSync(join(folder, '.mcp.json'), JSON.stringify({ mcpServers: { same } }))
    return folder
  })
  writeFileSync(join(home, '.claude.json'), '{}')
  writeFileSync(join(home, '.cursor', 'mcp.json'), '{}')
  const args = ['init', '--config', config, '--project', ...projects]
  const first = await sluice([...args, '--yes', 'same', '--move', '--observe'])
  expect(first.code, first.stderr).toBe(0)
  expect(first.stdout).toMatch(
    /would wait for a person.*\n {2}same\/ask: asks for context at \/inputSchema\/properties\/llm_name\n/,
  )
  expect(first.stdout).toContain(`${projects[0]}/.mcp.json belongs to the project`)
  expect(first.stdout).toMatch(
    /two\): it came with the project; `sluice init --yes same-claude-code --move/,
  )
  const here = process.cwd()
  process.chdir(projects[1] as string)
  onTestFinished(() => process.chdir(here))
  const { checks } = await sluiceJson(['doctor', '--config', config])
  expect(checks).toContainEqual({
    check: 'client',
    status: 'warn',
    message: `Claude Code: same (${projects[1]}) does not go through a gate`,
    help: '`sluice init --yes same-claude-code --move`',
  })
  // At a terminal: yes to the server, yes to the gate in front of it.
  const { code, text } = await agreeAtTerminal(args)
  expect(code, text).toBe(0)
  expect(text).toMatch(/same \(.*one\)\s+Claude Code: same \(.*two\)\s.*not observed:/s)
  expect(readFileSync(join(projects[1] as string, '.mcp.json'), 'utf8')).toContain('"stdio"')
})

test('observed first: everything passes and is recorded, until it is enforced', async () => {
  const ran = await init('--yes', 'notes', '--move', '--observe')
  expect(ran.code, ran.stderr).toBe(0)
  expect(ran.stdout).toMatch(/^observed:\n {2}Claude Code: notes\nnot observed:\n/m)
  expect(ran.stdout).toContain('Claude Code: asked: the environment has no `UNSET_FOR_INIT`')
  expect(ran.stdout).toMatch(/evil.*: it came with the project; `sluice init --yes evil --move/)
  expect(ran.stdout).toContain('nothing is enforced yet')
  expect(ran.stdout).toContain('the clients run Sluice from this clone')
  const again = await init('--yes', 'odd', '--observe')
  expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('for a new policy')])
  // Its keys are in sluice.env, which a second run reads.
  expect(await init('--yes', 'odd')).toMatchObject({ code: 0 })
  const { mcpServers } = JSON.parse(readFileSync(join(home, '.claude.json'), 'utf8'))
  const { command, args } = mcpServers.notes
  expect(args[0]).toBe(SLUICE)
  const { client, close } = await straight([command, ...args])
  const call = { name: 'delete_entities', arguments: { entityNames: ['x'] } }
  try {
    expect((await client.callTool(call)).isError).not.toBe(true)
    const status = await sluiceJson(['status', '--config', config])
    expect([status.observed, status.isPiped]).toEqual([['policy'], true])
    expect((await sluice(['status', '--config', config])).stdout).toContain('observing: nothing')
    await client.listTools()
    const enforce = () => sluiceJson(['enforce', '--config', config])
    // The definitions are stored a little later.
    await vi.waitFor(async () => expect((await enforce()).tools).toHaveLength(3), {
      timeout: 60_000,
    })
    const preview = await enforce()
    expect(preview).toMatchObject({
      enforced: false,
      calls: [{ tool: 'notes/delete_entities', count: 1 }],
    })
    expect(preview.tools.map(({ tool }: { tool: string }) => tool)).toContain(
      'notes/delete_entities',
    )
    expect(readFileSync(join(root, 'policy.yaml'), 'utf8')).toContain('mode: shadow')
    const log = followLog()
    await vi.waitFor(() => expect(log().match(/\n/g)).toHaveLength(1), 60_000)
    const turned = await sluice(['enforce', '--config', config, '--yes'])
    expect(turned.code, turned.stderr).toBe(0)
    // It is in force when the command ends, also at a gate that has not looked at its files yet.
    const now = await sluiceJson(['status', '--config', config])
    expect(now.observed).toEqual([])
    const [{ digest }] = now.policy.documents
    expect(turned.stdout).toContain(`policy.yaml, in force with the digest ${digest}\n`)
    expect(turned.stdout).toContain('3 of the 9 tools that clients have listed so far')
    expect(turned.stdout).toContain('no client has listed the tools of odd yet')
    void client.callTool(call).catch(() => {})
    const waiting = () => sluiceJson(['status', '--config', config])
    await vi.waitFor(async () => expect((await waiting()).waiting).toBe(1), { timeout: 60_000 })
    await vi.waitFor(() => expect(log()).toMatch(/^\d{4}-\S+Z info .*only tightens/m), 60_000)
    const { checks } = await sluiceJson(['doctor', '--config', config, '--start'])
    const servers = checks.filter(({ check }: { check: string }) => check === 'server')
    expect(servers.map(({ message }: { message: string }) => message.slice(-7))).toEqual([
      '9 tools',
      '9 tools',
    ])
    // It uses a gate that the client started: that one ends, and its client goes on with the new one.
    const refused = await sluice(['up', '--config', config, '--no-pin'])
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('--take-over')])
    const gate = await up(['--port', '0', '--take-over', '--no-pin'])
    await vi.waitFor(() => expect(log()).toContain('stopping (sluice stop)'), 60_000)
    expect((await waiting()).isPiped).toBe(false)
    expect((await client.listTools()).tools).toHaveLength(9)
    expect((await sluice(['stop', '--config', config])).stdout).toContain(`process ${gate.pid}`)
  } finally {
    await close()
    await sluice(['stop', '--config', config])
  }
})

/** `sluice logs -f`, from the last line on; what it has printed so far. */
function followLog(): () => string {
  const args = [SLUICE, 'logs', '-f', '-n', '1', '--config', config]
  const follower = spawn(NODE, args, { stdio: ['ignore', 'pipe', 'ignore'] })
  onTestFinished(() => void follower.kill())
  let text = ''
  follower.stdout.on('data', (chunk) => {
    text += chunk
  })
  return () => text
}

test('a configuration that is there keeps its lines, and gets the new servers', async () => {
  writeFileSync(
    config,
    '# mine\nversion: 1\nservers:\n  own: { command: [x] } # keep\npolicy: ./p.yaml\n',
  )
  const { code, stderr } = await init('--yes', 'files', '--json')
  expect(code, stderr).toBe(0)
  const text = readFileSync(config, 'utf8')
  expect(text).toMatch(
    /^# mine\nversion: 1\nservers:\n {2}own: \{ command: \[x\] \} # keep\n {2}"files":\n/,
  )
  expect(text).toMatch(/policy: \.\/p\.yaml\n$/)
  expect(existsSync(join(root, 'policy.yaml'))).toBe(false)
})

test('with --via url the entry is the address of a gate that a client reaches, and doctor says if not', async () => {
  const port = await freePort()
  const listen = `listen: 127.0.0.1:${port}`
  writeFileSync(config, `version: 1\n${listen}\nservers: {}\npolicy: ./policy.yaml\n`)
  writeFileSync(join(root, 'policy.yaml'), 'version: 1\ndefault: allow\n')
  const ran = await init('--yes', 'odd', '--move', '--via', 'url')
  expect(ran.code, ran.stderr).toBe(0)
  expect(ran.stdout).toContain('since the entries are addresses')
  const doctor = () => sluice(['doctor', '--config', config])
  const url = /"url": "([^"]+)"/.exec(readFileSync(join(home, '.cursor', 'mcp.json'), 'utf8'))?.[1]
  const down = await doctor()
  expect(down.code).toBe(1)
  expect(down.stdout).toContain(`Cursor: odd needs the gate at http://127.0.0.1:${port}`)
  const gate = await up([])
  try {
    expect((await doctor()).stdout).toContain('Cursor: odd goes through this gate')
    const transport = new StreamableHTTPClientTransport(new URL(url as string))
    const client = new Client({ name: 'Cursor', version: '1' }, { capabilities: {} })
    await client.connect(transport as never)
    const graph = await client.callTool({ name: 'read_graph', arguments: {} })
    expect(JSON.stringify(graph)).toContain('entities')
    const { sessions } = await sluiceJson(['status', '--config', config])
    expect(sessions).toMatchObject([{ kind: 'token', client: 'Cursor 1', servers: ['odd'] }])
    await client.close()
  } finally {
    gate.kill('SIGTERM')
    await once(gate, 'exit')
  }
  expect((await sluiceJson(['init', '--undo', '--config', config])).undone).toHaveLength(1)
  expect(readFileSync(join(home, '.cursor', 'mcp.json'))).toEqual(Buffer.from(odd))
})

/** Every tool of the two servers, by the policy that was written for them. */
function holds(tools: readonly Known[], text: string): void {
  const { policy, problems } = compile({ file: 'policy.yaml', text }, {})
  expect(problems).toEqual([])
  if (policy === undefined) throw new Error('no policy')
  const stopped = tools.filter(({ server, name, category, risk }) => {
    const call = { server, name, method: 'tools/call' as const, args: {} }
    const facts = sampleFacts({ definition: { server, name }, category, risk }, {})
    const now = { wallMs: 0, monotonicMs: 0 }
    return decide(policy, call, facts, new MemoryCounters(), now).action !== 'allow'
  })
  expect(stopped.map(({ server, name }) => `${server}/${name}`).sort()).toEqual([
    'notes/delete_entities',
    'notes/delete_observations',
    'notes/delete_relations',
  ])
  expect(tools.length - stopped.length).toBeGreaterThan(15)
}

interface Known extends ToolDefinition {
  readonly category: Category
  readonly risk: Risk
}

async function up(more = ['--port', '0']): Promise<ChildProcess> {
  const args = [SLUICE, 'up', '--config', config, ...more]
  const gate = spawn(NODE, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let stderr = ''
  gate.stderr.on('data', (chunk) => {
    stderr += chunk
  })
  const exited = once(gate, 'exit').then(() => {
    throw new Error(`the gate ended: ${stderr}`)
  })
  exited.catch(() => {})
  await Promise.race([once(gate.stdout, 'data'), exited])
  return gate
}
