// Extensions of the protocol behind `/mcp/x` and `/mcp`, in both generations: whole, or declared to neither
// side, and the operator is told.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { endOwnGates, type OwnGate, ownGate } from '../support/own-gate.ts'
import { sluiceJson } from '../support/run-sluice.ts'
import { fileScratchDirectory } from '../support/scratch.ts'
import { fixture, mcpUrl, type RunningGate } from '../support/start-gate.ts'

const TASKS = 'io.modelcontextprotocol/tasks'
const APPS = 'io.modelcontextprotocol/ui'
const folder = fileScratchDirectory()
const tool = { name: 'declared', inputSchema: { type: 'object' } }
const EXTENSIONS = { [APPS]: {}, 'com.example/audit': {}, 'com.example/unknown': { a: 1 } }

let gate: OwnGate

function serverOf(name: string, generation: string, extensions: string[]) {
  const file = join(folder, `${name}.json`)
  const capabilities = { tools: {}, resources: {}, extensions: EXTENSIONS }
  writeFileSync(
    file,
    JSON.stringify({ generation, capabilities, answers: { 'tools/list': { tools: [tool] } } }),
  )
  return { ...fixture('table', file), ...(extensions.length === 0 ? {} : { extensions }) }
}

beforeAll(async () => {
  gate = await ownGate({
    servers: {
      older: serverOf('older', 'session', ['com.example/audit']),
      newer: serverOf('newer', 'stateless', ['com.example/audit']),
      plain: serverOf('plain', 'session', []),
    },
  })
}, 60_000)
afterAll(async () => {
  await endOwnGates()
})

async function open(server: string, generation: string) {
  const client = new Client(
    { name: 'c', version: '1' },
    {
      capabilities: { extensions: { ...EXTENSIONS, [TASKS]: {} } },
      ...(generation === 'stateless'
        ? { versionNegotiation: { mode: { pin: '2026-07-28' } } }
        : {}),
    },
  )
  const url = new URL(mcpUrl(gate as unknown as RunningGate, server))
  await client.connect(new StreamableHTTPClientTransport(url))
  const { extensions } = client.getServerCapabilities() ?? {}
  const name = server === '' ? 'older__declared' : 'declared'
  const { content } = await client.callTool({ name, arguments: {} })
  await client.close()
  const said = JSON.parse((content as { text: string }[])[0]?.text ?? '')
  return { shown: Object.keys(extensions ?? {}), said: Object.keys(said.extensions ?? {}) }
}

test.each(['session', 'stateless'])(
  'a client of the %s generation and a server see the same extensions of each other',
  async (generation) => {
    const passing = [APPS, 'com.example/audit']
    expect(await open('older', generation)).toEqual({
      shown: passing,
      said: generation === 'session' ? [...passing, TASKS] : passing,
    })
    expect(await open('newer', generation)).toEqual({
      shown: passing,
      said: generation === 'session' ? passing : [...passing, TASKS],
    })
    expect((await open('plain', generation)).shown).toEqual([APPS])
    // Two servers have the one that the gate does not know.
    expect((await open('', generation)).shown).toEqual([APPS])
  },
)

test('doctor names what is not served, and the key that lets it pass', async () => {
  const config = join(gate.folder, 'sluice.yaml')
  const spec = { version: 1, servers: { plain: fixture('table', 'x') }, data: './data' }
  writeFileSync(config, JSON.stringify(spec))
  const { checks } = await sluiceJson(['doctor', '--config', config])
  const found = checks.find(({ message }: { message: string }) => message.includes('extensions'))
  expect(found).toMatchObject({ check: 'server', status: 'warn' })
  expect(found.message).toContain('plain: ')
  expect(found.message).toContain('com.example/audit, com.example/unknown')
  expect(found.help).toContain('`extensions`')
})
