// Clients behind `sluice stdio` while their gate is killed, stopped or replaced: the pipe finds or starts the next gate,
// the next call works, and of every call that was open the client learns what became of it.

import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client as NewerClient } from '@modelcontextprotocol/client'
import { StdioClientTransport as NewerTransport } from '@modelcontextprotocol/client/stdio'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { recordsOf } from '../support/plain-client.ts'
import { IS_FULL } from '../support/runs.ts'
import { scratchDirectory } from '../support/scratch.ts'
import { fixture, NODE, SLUICE, until } from '../support/start-gate.ts'
import { VERSION } from '../support/stateless-client.ts'

const TIMEOUT_MS = 300_000
const RESTARTS = IS_FULL ? 16 : 2
const POLICY = `version: 1
default: allow
labels: { count/read: [private] }
guardrails:
  - { name: stays in, match: { tools: [count/fail] }, when: session.saw.private, action: deny, reason: private }
`

interface Outcome {
  readonly n: string
  readonly isAnswered: boolean
  readonly error?: { code: number; message: string; data?: Record<string, Upstream> }
}

interface Upstream {
  readonly code: string
  readonly repeatable: boolean
  readonly record?: number
}

type AnyClient = Pick<Client, 'callTool' | 'listTools' | 'close'> | NewerClient

let folder = ''
let clients: AnyClient[] = []
const data = () => join(folder, 'data')
const calls = (): { name: string; arguments: { n: string } }[] => {
  const file = join(folder, 'calls')
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
  return lines.map((line) => JSON.parse(line))
}

function writeConfig(command: string[]): void {
  const config = { version: 1, data: './data', policy: './policy.yaml' }
  const text = JSON.stringify({ ...config, servers: { count: { command } } })
  writeFileSync(join(folder, 'sluice.yaml'), text)
}

beforeEach(() => {
  folder = scratchDirectory()
  clients = []
  writeFileSync(join(folder, 'policy.yaml'), POLICY)
  writeConfig(fixture('counter', join(folder, 'calls')).command)
})
afterEach(async () => {
  await Promise.all(clients.map((client) => client.close()))
  if (gatePid() > 0) await stopGate()
})

const stopGate = async () => {
  const pid = gatePid()
  process.kill(pid, 'SIGTERM')
  await until(() => gatePid() !== pid)
}

function gatePid(): number {
  const file = join(data(), 'gate.pid')
  return existsSync(file) ? Number(readFileSync(file, 'utf8').trim().split(' ')[0]) : 0
}

const pipeArgs = (which = ['--server', 'count']) => [
  SLUICE,
  'stdio',
  ...which,
  '--config',
  join(folder, 'sluice.yaml'),
]

async function openSession(which?: string[]): Promise<Client> {
  const client = new Client({ name: 'published', version: '1' })
  const how = { command: NODE, args: pipeArgs(which), stderr: 'ignore' as const }
  await client.connect(new StdioClientTransport(how) as Parameters<Client['connect']>[0])
  clients.push(client)
  return client
}

async function openStateless(): Promise<NewerClient> {
  const mode = { pin: VERSION }
  const client = new NewerClient({ name: 'newer', version: '1' }, { versionNegotiation: { mode } })
  await client.connect(new NewerTransport({ command: NODE, args: pipeArgs(), stderr: 'ignore' }))
  clients.push(client)
  return client
}

async function call(client: AnyClient, name: string, n: string): Promise<Outcome> {
  try {
    const { isError } = await client.callTool({ name, arguments: { n } })
    return { n, isAnswered: isError !== true }
  } catch (error) {
    return { n, isAnswered: false, error: error as Exclude<Outcome['error'], undefined> }
  }
}

/** What the client was told agrees with the ledger and with what the server has seen. */
function expectTrue({ n, isAnswered, error }: Outcome): void {
  const arrived = calls().filter((each) => each.arguments.n === n)
  expect(arrived.length, `${n} arrives once at most`).toBeLessThanOrEqual(1)
  if (isAnswered) return expect(arrived).toHaveLength(1)
  expect(error?.code).toBe(-32603)
  const upstream = error?.data?.['sluice/upstream']
  expect(upstream?.code).toBe('GATE_RESTARTED')
  if (upstream?.repeatable === true) {
    expect(error?.message).toContain('it was not sent')
    return expect(arrived, `${n} was not sent`).toEqual([])
  }
  expect(error?.message).toContain('is unknown')
  const record = recordsOf({ data: data() }).find(({ seq }) => seq === upstream?.record)
  expect(record).toMatchObject({ kind: 'intent', server: 'count' })
}

test(`${RESTARTS} restarts under published clients: nothing twice, every next call works`, {
  timeout: TIMEOUT_MS,
}, async () => {
  const both: AnyClient[] = [await openSession(), await openStateless()]
  for (const [at, client] of both.entries())
    expect(await call(client, 'read', `first ${at}`)).toMatchObject({ isAnswered: true })
  for (let round = 0; round < RESTARTS; round++) {
    const open = both.flatMap((client, at) =>
      ['slow', 'write', 'slow'].map((name, which) => call(client, name, `${round} ${at} ${which}`)),
    )
    const lists = both.map((client) => client.listTools())
    if (round % 3 !== 0)
      await until(() => calls().some(({ arguments: { n } }) => n === `${round} 0 0`))
    const pid = gatePid()
    process.kill(pid, round % 2 === 0 ? 'SIGKILL' : 'SIGTERM')
    for (const outcome of await Promise.all(open)) {
      expectTrue(outcome)
      // A gate that is told to stop answers what is open first.
      if (round % 2 === 1) expect(outcome).toMatchObject({ isAnswered: true })
    }
    for (const { tools } of await Promise.all(lists)) expect(tools).toHaveLength(4)
    for (const [at, client] of both.entries())
      expect(await call(client, 'read', `next ${round} ${at}`)).toMatchObject({ isAnswered: true })
    expect(gatePid()).not.toBe(pid)
  }
  // What the session had read before the first restart still counts.
  expect(await call(both[0] as Client, 'fail', 'last')).toEqual({ n: 'last', isAnswered: false })
  expect(calls().filter(({ name }) => name === 'fail')).toEqual([])
  const records = recordsOf({ data: data() })
  const starts = records.filter((each) => each.kind === 'event' && each.name === 'start')
  expect(starts).toHaveLength(RESTARTS + 1)
})

test('a call by `call_tool` that was out when its gate was killed is not said to be unsent', {
  timeout: TIMEOUT_MS,
}, async () => {
  const client = await openSession(['--mode', 'search'])
  const outer = async (n: string): Promise<Outcome> => {
    const call = { name: 'count__slow', arguments: { n } }
    return client.callTool({ name: 'call_tool', arguments: call }).then(
      () => ({ n, isAnswered: true }),
      (error: Exclude<Outcome['error'], undefined>) => ({ n, isAnswered: false, error }),
    )
  }
  expect(await outer('first')).toMatchObject({ isAnswered: true })
  const open = outer('sent')
  await until(() => calls().some(({ arguments: { n } }) => n === 'sent'))
  process.kill(gatePid(), 'SIGKILL')
  const outcome = await open
  expect(outcome.error?.data?.['sluice/upstream']).toMatchObject({ repeatable: false })
  expectTrue(outcome)
  expect(await outer('next')).toMatchObject({ isAnswered: true })
})

test('a gate that a person stops stays so until a client needs it', {
  timeout: TIMEOUT_MS,
}, async () => {
  const client = await openSession()
  await call(client, 'read', 'one')
  const args = [SLUICE, 'stop', '--data', data()]
  const output = execFileSync(NODE, args, { encoding: 'utf8' })
  expect(output).toMatch(/still open: "published 1".*; its next call starts a gate again/)
  const starts = () =>
    recordsOf({ data: data() }).filter((each) => each.kind === 'event' && each.name === 'start')
  // Longer than a pipe waits before it starts a gate for a client.
  await new Promise((resolve) => setTimeout(resolve, 2_000))
  expect([gatePid(), starts().length]).toEqual([0, 1])
  expect(await call(client, 'read', 'two')).toMatchObject({ isAnswered: true })
  expect(starts()).toHaveLength(2)
})

test('a gate that offers something else ends the pipe, and the client is told', {
  timeout: TIMEOUT_MS,
}, async () => {
  const client = await openSession()
  await stopGate()
  writeConfig(fixture('office', join(folder, 'office.log')).command)
  const ended = new Promise<void>((resolve) => {
    client.onclose = resolve
  })
  const outcome = call(client, 'read', 'one')
  await ended
  expect((await outcome).error?.message).toContain('Connection closed')
  expect(calls()).toEqual([])
})
