// Both generations over pipes: real clients (SDK v2) that are pinned to 2026-07-28 or find out by themselves,
// through `sluice stdio` and HTTP, in front of servers that speak one generation, are silent, or slow.

import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  endGates,
  fixture,
  NODE,
  programFile,
  published,
  type RunningGate,
  SLUICE,
  startGate,
} from '../support/start-gate.ts'
import { VERSION } from '../support/stateless-client.ts'

const TIMEOUT_MS = 120_000
const PIN = { pin: VERSION }

let gate: RunningGate
beforeAll(async () => {
  const newer = programFile('serve', 'conformance')
  const servers = {
    newer: { command: [NODE, newer, '--stdio', '--generation', 'stateless'] },
    older: published('everything'),
    silent: fixture('silent', '1500'),
  }
  gate = await startGate({ servers })
}, TIMEOUT_MS)
afterAll(endGates)

type Mode = typeof PIN | 'auto'

async function connect(mode: Mode, server: string, over: 'pipe' | 'http'): Promise<Client> {
  const client = new Client(
    { name: 'real', version: '1' },
    { capabilities: { sampling: {}, elicitation: {} }, versionNegotiation: { mode } },
  )
  client.setRequestHandler('sampling/createMessage', () => ({
    model: 'a-model',
    role: 'assistant',
    content: { type: 'text', text: 'sampled' },
  }))
  client.setRequestHandler('elicitation/create', () => ({
    action: 'accept',
    content: { name: 'ada' },
  }))
  const pipe = ['stdio', '--server', server, '--config', join(gate.folder, 'sluice.yaml')]
  await client.connect(
    over === 'http'
      ? new StreamableHTTPClientTransport(new URL(`${gate.url}/mcp/${server}`))
      : new StdioClientTransport({
          command: NODE,
          args: [SLUICE, ...pipe],
          stderr: 'ignore',
        }),
  )
  return client
}

describe('a real client', { timeout: TIMEOUT_MS, concurrent: true }, () => {
  test.each([
    ['pipe', 'newer', PIN],
    ['pipe', 'older', 'auto'],
    ['http', 'newer', 'auto'],
    ['http', 'older', 'auto'],
  ] as const)('over %s to the %s server, %j', async (over, server, mode) => {
    const client = await connect(mode, server, over)
    expect(client.getNegotiatedProtocolVersion()).toBe(VERSION)
    const [plain, asking] =
      server === 'older'
        ? [{ name: 'echo', arguments: { message: 'hi' } }, 'trigger-sampling-request']
        : [{ name: 'test_simple_text', arguments: {} }, 'test_input_required_result_sampling']
    expect((await client.callTool(plain)).content).toHaveLength(1)
    const args = { prompt: 'a?', maxTokens: 9 }
    const asked = await client.callTool({ name: asking, arguments: args })
    expect(JSON.stringify(asked)).toContain('sampled')
    await client.close()
  })

  test('with a server that starts late and is silent when asked of its generation', async () => {
    const client = await connect(PIN, 'silent', 'http')
    const result = await client.callTool({ name: 'echo', arguments: { a: 1 } })
    expect(JSON.stringify(result)).toContain('a')
    await client.close()
  })
})
