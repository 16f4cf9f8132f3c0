// What a session is, seen from outside with real clients: fresh chats inherit nothing, reconnecting is no
// way out of a limit, the pipes of one client are one session, and two windows are two.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  Client as StatelessSdkClient,
  StreamableHTTPClientTransport as StatelessTransport,
} from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { ClientWindow } from '../support/client-window.ts'
import { inspect } from '../support/inspect.ts'
import { ROOT } from '../support/modules.ts'
import { serveGate } from '../support/own-gate.ts'
import { makePerson, PIN, type } from '../support/person.ts'
import { recordsOf } from '../support/plain-client.ts'
import { sluice, sluiceJson } from '../support/run-sluice.ts'
import { IS_FULL } from '../support/runs.ts'
import {
  endGates,
  fixture,
  mcpUrl,
  NODE,
  type RunningGate,
  type ServingGate,
  SLUICE,
  startGate,
} from '../support/start-gate.ts'
import { VERSION } from '../support/stateless-client.ts'

const TIMEOUT_MS = 180_000

const POLICY = `
version: 1
default: allow
labels: { files/read_file: [private] }
tools:
  files/write_note: { action: allow, rate_limit: { max: 10, window: 1h } }
  mail/delete_all: { action: require_approval, approval: { wait: 1s } }
guardrails:
  - name: private data stays in
    match: { tools: [mail/send_mail] }
    when: session.saw.private
    action: deny
    reason: it has read private data
`
const servers = { files: fixture('office'), mail: fixture('office') }

let gate: RunningGate
let home = ''
const windows: ClientWindow[] = []

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'sluice-sessions-'))
  gate = await startGate({ servers, policy: POLICY })
}, TIMEOUT_MS)
afterEach(async () => {
  await Promise.all(windows.splice(0).map((window) => window.end()))
})
afterAll(async () => {
  await endGates()
  rmSync(home, { recursive: true, force: true })
})

function openWindow(): ClientWindow {
  const window = new ClientWindow()
  windows.push(window)
  return window
}

const stdio = (server: string): string[] => [
  'stdio',
  '--config',
  join(gate.folder, 'sluice.yaml'),
  '--server',
  server,
]
const directly = (server: string): string[] => [NODE, SLUICE, ...stdio(server)]
const throughShell = (server: string): string[] => [
  'sh',
  '-c',
  `"$0" "$@"; exit $?`,
  ...directly(server),
]
const throughNpx = (server: string): string[] => ['npx', '--offline', 'sluice', ...stdio(server)]

async function token(): Promise<string> {
  return (await sluice(['sessions', 'token', '--data', gate.data])).stdout.trim()
}

type Call = (tool: string, args?: Record<string, unknown>) => Promise<string>

interface HttpClient {
  readonly call: Call
  readonly close: () => Promise<void>
}

/** SDK v1; a session token goes into the address, as `init` writes it. */
async function sdk1(
  server: string,
  sessionToken?: string,
  on: ServingGate = gate,
): Promise<HttpClient> {
  const url = new URL(mcpUrl(on, server))
  if (sessionToken !== undefined) url.searchParams.set('sluice_session', sessionToken)
  const client = new Client({ name: 'chat', version: '1' })
  const transport = new StreamableHTTPClientTransport(url)
  await client.connect(transport as Parameters<Client['connect']>[0])
  const call: Call = async (name, args = {}) =>
    codeOf((await client.callTool({ name, arguments: args }))._meta)
  const close = async (): Promise<void> => {
    await transport.terminateSession()
    await client.close()
  }
  return { call, close }
}

/** SDK v2 with the stateless protocol; a session token goes into a header. */
async function sdk2(server: string, sessionToken?: string): Promise<HttpClient> {
  const client = new StatelessSdkClient(
    { name: 'stateless chat', version: '1' },
    { versionNegotiation: { mode: { pin: VERSION } } },
  )
  const headers = sessionToken === undefined ? {} : { 'Sluice-Session': sessionToken }
  const url = new URL(mcpUrl(gate, server))
  await client.connect(new StatelessTransport(url, { requestInit: { headers } }))
  const call: Call = async (name, args = {}) =>
    codeOf((await client.callTool({ name, arguments: args }))._meta)
  return { call, close: () => client.close() }
}

function codeOf(meta: unknown): string {
  const decision = (meta as Record<string, { code?: string }> | undefined)?.['sluice/decision']
  return decision?.code ?? 'passed'
}

async function count(times: number, call: () => Promise<string>): Promise<number> {
  let passed = 0
  for (let n = 0; n < times; n += 1) if ((await call()) === 'passed') passed += 1
  return passed
}

const LEAK = { to: 'stranger@example.com' }

describe.runIf(process.platform === 'linux')('pipes', () => {
  test('a private file read through one pipe is not posted through another of the same client', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const window = openWindow()
    await window.open('files', directly('files'), ROOT)
    await window.open('mail', throughShell('mail'), ROOT)
    await window.open('npx', throughNpx('mail'), ROOT)
    for (const pipe of ['mail', 'npx'])
      expect(await window.call(pipe, 'send_mail', LEAK)).toBe('passed')
    expect(await window.call('files', 'read_file', { path: 'x' })).toBe('passed')
    for (const pipe of ['mail', 'npx'])
      expect(await window.call(pipe, 'send_mail', LEAK)).toBe('DENIED')
  })

  test('two windows beside each other share neither labels nor counters', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const [one, other] = [openWindow(), openWindow()]
    for (const window of [one, other])
      for (const server of ['files', 'mail']) await window.open(server, directly(server), ROOT)
    await one.call('files', 'read_file', { path: 'x' })
    expect(await one.call('mail', 'send_mail', LEAK)).toBe('DENIED')
    expect(await other.call('mail', 'send_mail', LEAK)).toBe('passed')
    for (const window of [one, other])
      expect(await count(12, () => window.call('files', 'write_note', { text: 'x' }))).toBe(10)
  })

  test('3 reconnects get 10 calls through a limit of 10, and the name of the session says who', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const window = openWindow()
    let passed = 0
    for (let n = 0; n < 3; n += 1) {
      await window.open('files', n % 2 ? throughShell('files') : directly('files'), ROOT)
      passed += await count(4, () => window.call('files', 'write_note', { text: 'x' }))
      await window.closePipe('files')
    }
    expect(passed).toBe(10)
    const { sessions } = await sluiceJson(['sessions', 'list', '--data', gate.data])
    const own = sessions.filter(({ calls }: { calls: number }) => calls === 10)
    expect(own).toContainEqual(
      expect.objectContaining({ client: 'window 2', kind: 'pipe', servers: ['files'] }),
    )
  })
})

describe('HTTP', () => {
  test('fresh chats that have read nothing inherit nothing', { timeout: TIMEOUT_MS }, async () => {
    const reader = await sdk1('files')
    await reader.call('read_file', { path: 'x' })
    await reader.close()
    for (let n = 0; n < 2; n += 1) {
      const fresh = await sdk1('mail')
      expect(await fresh.call('send_mail', LEAK)).toBe('passed')
      await fresh.close()
    }
  })

  test('3 reconnects with a session token get 10 calls through a limit of 10, in both protocols', {
    timeout: TIMEOUT_MS,
  }, async () => {
    for (const connect of [sdk1, sdk2]) {
      const own = await token()
      let passed = 0
      for (let n = 0; n < 3; n += 1) {
        const client = await connect('files', own)
        passed += await count(4, () => client.call('write_note', { text: 'x' }))
        await client.close()
      }
      expect(passed).toBe(10)
    }
  })

  test('MCP sessions and stateless requests of one token are one session', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const own = await token()
    const reader = await sdk1('files', own)
    await reader.call('read_file', { path: 'x' })
    const [joined, stateless, stranger] = [
      await sdk1('mail', own),
      await sdk2('mail', own),
      await sdk2('mail', await token()),
    ]
    expect(await joined.call('send_mail', LEAK)).toBe('DENIED')
    expect(await stateless.call('send_mail', LEAK)).toBe('DENIED')
    expect(await stranger.call('send_mail', LEAK)).toBe('passed')
    for (const client of [reader, joined, stateless, stranger]) await client.close()
  })

  test('a stateless request without a valid token belongs to the common session', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const forged = `${(await token()).slice(0, -4)}AAAA`
    const reader = await sdk2('files', forged)
    await reader.call('read_file', { path: 'x' })
    for (const given of [undefined, 'sluice_session_mine', `${forged}x`]) {
      const other = await sdk2('mail', given)
      expect(await other.call('send_mail', LEAK)).toBe('DENIED')
      await other.close()
    }
    await reader.close()
  })

  test('an approval, the status and the ledger name the session, the client’s part as self-reported', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const client = await sdk1('mail')
    expect(await client.call('delete_all', { all: true })).toBe('APPROVAL_PENDING')
    const name = /^"chat 1" \(self-reported\) since .* UTC, uses mail$/
    const { requests } = await sluiceJson(['approvals', 'list', '--data', gate.data])
    expect(requests[0].sessionName).toMatch(name)
    const status = await sluiceJson(['status', '--data', gate.data])
    const { session } = requests[0]
    expect(status.sessions.find(({ id }: { id: string }) => id === session).name).toMatch(name)
    const begun = recordsOf(gate).filter((record) => record.kind === 'event')
    expect(begun.map(({ detail }) => detail)).toContainEqual(
      expect.objectContaining({ session, kind: 'mcp', client: 'chat 1', servers: ['mail'] }),
    )
    // A call has the id only; those who read it see the name.
    const own = ['--session', session, '--data', gate.data]
    const title = 'session "chat 1" (self-reported)'
    expect((await sluice(['ledger', 'query', ...own])).stdout).toContain(title)
    const { calls } = await sluiceJson(['ledger', 'query', ...own])
    expect(calls[0]).toMatchObject({ session, sessionName: '"chat 1" (self-reported)' })
    expect((await sluice(['ledger', 'tail', '--data', gate.data])).stdout).toContain(title)
    const sql = `select client from sessions where session = '${session}'`
    const { rows } = await sluiceJson(['ledger', 'query', '--sql', sql, '--data', gate.data])
    expect(rows).toEqual([['chat 1']])
    await client.close()
  })

  test('a person ends a session: its connection closes, and the next one begins empty', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const own = await token()
    const reader = await sdk1('files', own)
    await reader.call('read_file', { path: 'x' })
    const { sessions } = await sluiceJson(['sessions', 'list', '--data', gate.data])
    const { id } = sessions.findLast(
      ({ kind, saw }: { kind: string; saw: string[] }) => [kind, ...saw].join() === 'token,private',
    )
    await makePerson(gate.data)
    const end = ['sessions', 'end', id, '--data', gate.data]
    type('wrong PIN')
    expect((await sluice(end)).code).not.toBe(0)
    const kept = await sdk1('mail', own)
    expect(await kept.call('send_mail', LEAK)).toBe('DENIED')
    type(PIN)
    expect(await sluice(end)).toMatchObject({ code: 0, stdout: expect.stringContaining('ended') })
    await expect(kept.call('send_mail', LEAK)).rejects.toThrow()
    const next = await sdk1('mail', own)
    expect(await next.call('send_mail', LEAK)).toBe('passed')
    await next.close()
  })

  test('label_scope: principal: what one session has read counts in every other', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const policy = `${POLICY}label_scope: principal\n`
    const strict = await serveGate({ servers, policy })
    const [reader, sender] = [
      await sdk1('files', undefined, strict),
      await sdk1('mail', undefined, strict),
    ]
    expect(await sender.call('send_mail', LEAK)).toBe('passed')
    await reader.call('read_file', { path: 'x' })
    expect(await sender.call('send_mail', LEAK)).toBe('DENIED')
    for (const client of [reader, sender]) await client.close()
  })

  // Each start of that program takes a second; test/gate/servers.test.ts has it call tools.
  test.runIf(IS_FULL)(
    'the inspector has a session of its own',
    { timeout: TIMEOUT_MS },
    async () => {
      const options = ['--method', 'tools/call', '--tool-name', 'send_mail', '--tool-arg', 'to=x']
      const { _meta } = await inspect(home, mcpUrl(gate, 'mail'), ...options)
      expect(codeOf(_meta)).toBe('passed')
    },
  )
})
