import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { Service } from '../service/service.ts'
import { serveAgentsOverStdio } from './serve-stdio.ts'

const OPEN = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
}
let service: Service

beforeAll(async () => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-'))
  const models = { environment: {}, providers: {}, scripts: directory, prices: {} }
  service = await Service.start({ directory, models })
  return async () => {
    await service.close()
    rmSync(directory, { recursive: true, force: true })
  }
})

/** A client that sees the very bytes. */
function connect() {
  const input = new PassThrough()
  const output = new PassThrough({ encoding: 'utf8' })
  const handle = serveAgentsOverStdio(service, { owner: 'me' }, '1', [input, output])
  onTestFinished(() => handle.close())
  const waiting: ((line: string) => void)[] = []
  let text = ''
  output.on('data', (chunk: string) => {
    text += chunk
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
      waiting.shift()?.(text.slice(0, end))
      text = text.slice(end + 1)
    }
  })
  const next = () => new Promise<string>((resolve) => waiting.push(resolve))
  const write = (...chunks: string[]) => {
    for (const chunk of chunks) input.write(chunk)
  }
  const ask = (method: string, params: object, id: string | number = 1) => {
    const line = next()
    write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    return line
  }
  const open = async () => {
    await ask('initialize', OPEN)
    write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
    // The SDK has read it when it answers what came after it.
    await ask('ping', {})
  }
  return { ask, next, write, open }
}

const made = async (client: ReturnType<typeof connect>): Promise<string> => {
  const line = await client.ask('tools/call', {
    name: 'wasm_agent_create',
    arguments: { model: 'script:x' },
  })
  return JSON.parse(line).result.structuredContent.agent.id
}

test('what is answered without the SDK is what it would have answered, to the byte', async () => {
  const client = connect()
  await client.open()
  const agentId = await made(client)
  const calls: [string, unknown][] = [
    ['wasm_agent_todos', { agentId }],
    ['wasm_agent_is_stopped', { agentId }],
    ['wasm_agent_files', { agentId }],
    ['wasm_agent_state', { agentId }],
    ['wasm_agent_todos', { agentId: 'nobody' }],
    ['wasm_agent_todos', { agentId, more: 1 }],
    ['wasm_agent_todos', JSON.parse(`{"agentId":"${agentId}","__proto__":{"x":1}}`)],
    ['wasm_agent_todos', {}],
    ['wasm_agent_todos', { agentId: [[['deep']]] }],
    ['wasm_gallery_list', {}],
    // Not for here: they go to the SDK both times.
    ['wasm_agent_todos', [agentId]],
    ['wasm_agent_todos', null],
    ['no_such_tool', {}],
  ]
  for (const [name, args] of calls)
    for (const id of [7, 'seven']) {
      const plain = await client.ask('tools/call', { name, arguments: args }, id)
      const whole = await client.ask('tools/call', { name, arguments: args, _meta: {} }, id)
      expect(plain, `${name} ${JSON.stringify(args)}`).toBe(whole)
    }
})

test('lines in pieces, several at once and things that are no requests are the SDK’s', async () => {
  const client = connect()
  await client.open()
  const agentId = await made(client)
  const params = { name: 'wasm_agent_turn_count', arguments: { agentId } }
  const line = (id: number) =>
    `${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params })}\n`
  const answered = (text: string) => {
    const { id, result } = JSON.parse(text)
    expect(result.structuredContent).toEqual({ agentId, turnCount: 0 })
    return id
  }
  for (const cut of [1, 40, line(1).length - 1]) {
    const answer = client.next()
    client.write(line(1).slice(0, cut), line(1).slice(cut))
    expect(answered(await answer)).toBe(1)
  }
  const [one, two, three] = [client.next(), client.next(), client.next()]
  client.write('no JSON\n', '[]\n', line(2) + line(3) + line(4).slice(0, 20), line(4).slice(20))
  const ids = await Promise.all([one, two, three].map(async (line) => answered(await line)))
  expect(ids.sort()).toEqual([2, 3, 4])
})

test('a call before the session is open is not answered past the SDK', async () => {
  const client = connect()
  const call = { name: 'wasm_agent_list', arguments: {} }
  const plain = JSON.parse(await client.ask('tools/call', call, 1))
  const other = connect()
  const whole = JSON.parse(await other.ask('tools/call', { ...call, _meta: {} }, 1))
  expect(plain).toEqual(whole)
})
