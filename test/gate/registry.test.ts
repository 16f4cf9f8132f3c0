// The servers of a gate as an MCP registry lists them, for clients that may only use listed servers.

import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterEach, expect, test } from 'vitest'
import { serveGate } from '../support/own-gate.ts'
import { endGates, fixture } from '../support/start-gate.ts'

afterEach(endGates)

// biome-ignore lint/suspicious/noExplicitAny: taken apart by the test
async function readJson(response: Response): Promise<any> {
  const text = await response.text()
  return text === '' ? null : JSON.parse(text)
}

const servers = {
  notes: fixture('echo'),
  desk: fixture('echo'),
  hooks: { builtin: 'claude-code' as const },
}

test('lists each server with the address that a client then uses', async () => {
  const gate = await serveGate({ servers, config: { registry: { namespace: 'com.example' } } })
  const ask = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`${gate.url}/v0.1/servers${path}`, init)
    return {
      status: response.status,
      headers: response.headers,
      value: await readJson(response),
    }
  }
  const { value, headers } = await ask('', { headers: { origin: 'https://copilot.example' } })
  expect(headers.get('access-control-allow-origin')).toBe('*')
  const names = value.servers.map(({ server }: { server: { name: string } }) => server.name)
  expect(names).toEqual(['com.example/notes', 'com.example/desk'])
  expect(value.metadata).toEqual({ count: 2 })

  const latest = await ask('/com.example%2Fnotes/versions/latest')
  expect(latest.value).toEqual(value.servers[0])
  expect((await ask('/com.example%2Fnotes/versions/1.0.0')).value).toEqual(value.servers[0])
  expect((await ask('/com.example%2Fnotes/versions')).value.servers).toEqual([value.servers[0]])
  expect((await ask('?search=DESK')).value.servers).toHaveLength(1)
  expect((await ask('?version=2.0.0')).value.servers).toEqual([])
  for (const path of [
    '/com.example%2Fnone/versions/latest',
    '/com.example%2Fnotes/versions/2',
    '/x',
  ])
    expect((await ask(path)).status).toBe(404)
  expect((await ask('', { method: 'OPTIONS' })).status).toBe(204)
  expect((await ask('', { method: 'POST' })).status).toBe(405)

  const client = new Client({ name: 'listed', version: '1' })
  const transport = new StreamableHTTPClientTransport(new URL(latest.value.server.remotes[0].url))
  await client.connect(transport as Parameters<Client['connect']>[0])
  expect((await client.listTools()).tools.length).toBeGreaterThan(0)
  await client.close()
})

test('is not there unless the configuration asks for it', async () => {
  const gate = await serveGate({ servers })
  expect((await fetch(`${gate.url}/v0.1/servers`)).status).not.toBe(200)
})
