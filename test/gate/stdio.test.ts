// Clients that only start commands: `sluice stdio` and `sluice wrap` are pipes to one gate, which
// they start where none runs. Eight at once share one chain of records and one set of limits.

import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ROOT } from '../support/modules.ts'
import { sluice } from '../support/run-sluice.ts'
import { rounds } from '../support/runs.ts'
import { fixture, SLUICE, until } from '../support/start-gate.ts'

const MEMORY = join(ROOT, 'node_modules/@modelcontextprotocol/server-memory/dist/index.js')
const PIPES = rounds(16)
const TIMEOUT_MS = 180_000

let folder = ''
let pipes: ChildProcess[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-stdio-'))
  pipes = []
})

afterEach(async () => {
  for (const pipe of pipes) pipe.stdin?.end()
  await Promise.all(pipes.map(ended))
  await stopGate()
  rmSync(folder, { recursive: true, force: true })
})

/** A client that speaks a message a line with a command. */
class LineClient {
  readonly #process: ChildProcess
  readonly #waiting = new Map<number | null, PromiseWithResolvers<Message>>()
  #nextId = 1
  #output = ''
  stderr = ''

  constructor(args: readonly string[], variables: Record<string, string> = {}) {
    const env = { ...process.env, ...variables }
    this.#process = spawn(process.execPath, [SLUICE, ...args], { cwd: folder, env })
    pipes.push(this.#process)
    this.#process.stdout?.on('data', (chunk) => this.#hear(String(chunk)))
    this.#process.stderr?.on('data', (chunk) => {
      this.stderr += chunk
    })
    this.#process.once('exit', () => {
      for (const { reject } of this.#waiting.values())
        reject(new Error(`the pipe ended: ${this.stderr}`))
    })
  }

  ask(method: string, params: object = {}): Promise<Message> {
    const id = this.#nextId++
    return this.#answerTo(id, JSON.stringify({ jsonrpc: '2.0', id, method, params }))
  }

  /** What is no message is answered without an id. */
  say(line: string): Promise<Message> {
    return this.#answerTo(null, line)
  }

  async initialize(): Promise<this> {
    const clientInfo = { name: 'test', version: '1' }
    await this.ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo })
    this.#process.stdin?.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
    return this
  }

  call(name: string, args: object = {}): Promise<Message> {
    return this.ask('tools/call', { name, arguments: args })
  }

  async end(): Promise<number | null> {
    this.#process.stdin?.end()
    await ended(this.#process)
    return this.#process.exitCode
  }

  #answerTo(id: number | null, line: string): Promise<Message> {
    const answer = Promise.withResolvers<Message>()
    this.#waiting.set(id, answer)
    this.#process.stdin?.write(`${line}\n`)
    return answer.promise
  }

  #hear(text: string): void {
    this.#output += text
    const lines = this.#output.split('\n')
    this.#output = lines.pop() ?? ''
    for (const line of lines) {
      const message = JSON.parse(line) as Message
      this.#waiting.get(message.id)?.resolve(message)
    }
  }
}

interface Message {
  id: number | null
  error?: { code: number; message: string }
  result?: {
    isError?: boolean
    content?: { text: string }[]
    tools?: { name: string }[]
    _meta?: { 'sluice/decision'?: { code: string; retryAfterMs?: number } }
  }
}

function ended(process: ChildProcess): Promise<void> {
  if (process.exitCode !== null || process.signalCode !== null) return Promise.resolve()
  return new Promise((resolve) => {
    process.once('exit', () => resolve())
    setTimeout(() => process.kill(), 5_000).unref()
  })
}

/** The gate that the pipes have started ends by itself after a minute; tests end it at once. */
async function stopGate(): Promise<void> {
  const file = join(folder, 'data', 'gate.pid')
  if (!existsSync(file)) return
  const pid = Number(readFileSync(file, 'utf8').trim().split(' ')[0])
  process.kill(pid, 'SIGTERM')
  for (let tries = 0; tries < 200 && existsSync(file); tries++)
    await new Promise((resolve) => setTimeout(resolve, 50))
}

const run = async (...args: string[]) =>
  (await sluice([...args, '--data', join(folder, 'data')])).stdout

/** Every file of the data directory that has this text in it. */
function filesWith(text: string): string[] {
  const all = readdirSync(join(folder, 'data'), { recursive: true, withFileTypes: true })
  return all
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((file) => readFileSync(file).includes(text))
}

test('the environment of each client goes to its own server, and is stored nowhere', {
  timeout: TIMEOUT_MS,
}, async () => {
  const { command } = fixture('echo')
  const env = { SET: 'by the configuration', LISTED: null }
  const silent = { command: ['sleep', '600'] }
  const servers = { shared: { command, env, share: 'all' }, own: { command, env }, silent }
  const config = { version: 1, data: './data', servers, policy: './policy.yaml' }
  writeFileSync(join(folder, 'policy.yaml'), 'version: 1\ndefault: allow\n')
  writeFileSync(join(folder, 'sluice.yaml'), JSON.stringify(config))
  const start = (server: string, key: string, variables = {}, ...args: string[]) =>
    new LineClient(['stdio', ...(server === '*' ? [] : ['--server', server]), ...args], {
      KEY: `secret-${key}`,
      SET: 'by the client',
      SLUICE_OTHER: 'x',
      ...variables,
    }).initialize()
  const seenBy = async (client: LineClient, tool = 'env') => {
    const { result } = await client.call(tool)
    const seen = JSON.parse(result?.content?.[0]?.text ?? '{}') as Record<string, string>
    const { KEY, SET, LISTED, EXTRA, SLUICE_OTHER } = seen
    return { KEY, SET, LISTED, EXTRA, SLUICE_OTHER }
  }
  const set = { SET: 'by the configuration' }
  const waiting = new LineClient(['stdio', '--server', 'silent'])
  void waiting.initialize().catch(() => {})
  const [a, again, b, own, all] = await Promise.all([
    start('shared', 'a'),
    start('shared', 'a'),
    start('shared', 'b', { LISTED: 'l' }),
    start('own', 'a', {}, '--env', 'EXTRA=secret-extra'),
    start('*', 'c'),
  ])
  expect(await seenBy(a)).toEqual({ KEY: 'secret-a', ...set })
  expect(await seenBy(again)).toEqual({ KEY: 'secret-a', ...set })
  expect(await seenBy(b)).toEqual({ KEY: 'secret-b', ...set, LISTED: 'l' })
  const pids = await Promise.all([a, again, b].map((client) => client.call('pid')))
  const [first, second, third] = pids.map(({ result }) => result?.content?.[0]?.text)
  expect([second === first, third === first]).toEqual([true, false])
  expect(await seenBy(own)).toEqual({ KEY: 'secret-a', ...set, EXTRA: 'secret-extra' })
  expect(await seenBy(all, 'shared__env')).toEqual({ KEY: 'secret-c', ...set })
  // A client whose environment is another user's has what the configuration lists, and nothing else.
  const other = await start('own', 'd', { SUDO_UID: '4711', LISTED: 'lent', PATH: '/evil' })
  expect(await seenBy(other)).toEqual({ ...set, LISTED: 'lent' })
  expect(filesWith('secret-')).toEqual([])
  expect(await run('logs', '-n', '500')).toContain('sluice ready ')
  const status = await run('status', '--json')
  expect(JSON.parse(status)).toMatchObject({ ready: true })
  expect(status).not.toContain('secret-')
  const message = 'the server `silent` has not answered yet'
  await vi.waitFor(() => expect(waiting.stderr).toContain(message), { timeout: 60_000 })
  const missing = new LineClient(['stdio', '--server', 'own', '--env', 'NOT_SET_HERE'])
  await expect(missing.initialize()).rejects.toThrow('the environment has no `NOT_SET_HERE`')
})

test('wrap, without any configuration: reading passes, the rest is held', {
  timeout: TIMEOUT_MS,
}, async () => {
  const client = new LineClient(['wrap', '--data', 'data', '--', process.execPath, MEMORY])
  await client.initialize()
  const { result } = await client.ask('tools/list')
  expect(result?.tools?.map(({ name }) => name)).toContain('delete_entities')
  expect((await client.call('read_graph')).result?.isError).toBeUndefined()
  // It waits for somebody who decides; nobody is going to.
  void client.call('delete_entities', { entityNames: [] }).catch(() => {})
  await until(async () => (await run('approvals', 'list')).includes('/delete_entities'))
  expect((await client.say('not a message')).error?.code).toBe(-32700)
  expect((await client.call('read_graph')).result?.isError).toBeUndefined()
  expect(await client.end()).toBe(0)
  expect(client.stderr).toContain('no --policy')
})

test(`${PIPES} pipes at once: one gate, one chain, exact limits`, {
  timeout: TIMEOUT_MS,
}, async () => {
  const limit = '{ action: allow, rate_limit: { max: 20, window: 1h, per: everyone } }'
  writeFileSync(
    join(folder, 'policy.yaml'),
    `version: 1\ndefault: deny\ncategories: { Read: ${limit} }\n`,
  )
  const memory = { command: [process.execPath, MEMORY] }
  const config = { version: 1, data: './data', servers: { memory }, policy: './policy.yaml' }
  writeFileSync(join(folder, 'sluice.yaml'), JSON.stringify(config))
  const clients = await Promise.all(
    Array.from({ length: PIPES }, () =>
      new LineClient(['stdio', '--server', 'memory']).initialize(),
    ),
  )
  const answers = await Promise.all(
    clients.flatMap((client) => Array.from({ length: 10 }, () => client.call('read_graph'))),
  )
  const passed = answers.filter(({ result }) => result?.isError !== true)
  expect(passed.length).toBe(20)
  const limited = answers.filter(({ result }) => result?.isError === true)
  expect(limited.map(({ result }) => result?._meta?.['sluice/decision']?.code)).toEqual(
    Array.from({ length: PIPES * 10 - 20 }, () => 'RATE_LIMITED'),
  )
  await Promise.all(clients.map((client) => client.end()))
  expect(await run('ledger', 'verify')).toContain('ok: ')
  const exported = (await run('ledger', 'export')).trim().split('\n')
  const records = exported.map((line) => JSON.parse(line) as { kind: string })
  expect(records.filter(({ kind }) => kind === 'intent').length).toBe(20)
  expect(records.filter(({ kind }) => kind === 'refusal').length).toBe(limited.length)
})

test('a server that the configuration does not have is an error, not a hang', {
  timeout: TIMEOUT_MS,
}, async () => {
  writeFileSync(join(folder, 'sluice.yaml'), 'version: 1\ndata: ./data\nservers: {}\n')
  const client = new LineClient(['stdio', '--server', 'nobody'])
  await expect(client.initialize()).rejects.toThrow('no server is called `nobody`')
})
