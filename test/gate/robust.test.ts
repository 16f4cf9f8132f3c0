// The gate among servers that crash, hang, flood and talk nonsense, clients that go away, a disk
// that cannot be written and people who stop it: nobody else notices, and nothing is left behind.

import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type HttpFixture, serveHttp } from '../servers/http.ts'
import { TOOLS } from '../servers/speak.ts'
import { pipeTo } from '../support/line-pipe.ts'
import { serveGate } from '../support/own-gate.ts'
import { PlainClient, recordsOf, sentTo } from '../support/plain-client.ts'
import { childrenOf, isAlive } from '../support/processes.ts'
import { forms, rounds } from '../support/runs.ts'
import { endGates, fixture, type RunningGate, startGate, until } from '../support/start-gate.ts'

describe('servers', () => {
  let gate: RunningGate
  let odd: HttpFixture
  let bystander: PlainClient

  beforeAll(async () => {
    odd = await serveHttp()
    const servers = {
      echo: fixture('echo'),
      crash: fixture('crash', '2'),
      stillborn: fixture('crash', '0'),
      missing: { command: ['sluice-no-such-program'] },
      hang: fixture('hang'),
      messages: fixture('flood', 'messages'),
      stray: fixture('flood', 'stray'),
      endless: fixture('flood', 'endless'),
      unasked: fixture('flood', 'unasked'),
      changes: fixture('flood', 'changes'),
      garbage: fixture('garbage'),
      odd: { url: odd.url },
    }
    gate = await startGate({ servers })
    bystander = await PlainClient.open(gate, 'echo')
  })
  afterAll(async () => {
    await endGates()
    await odd.close()
  })
  afterEach(async () => {
    expect((await bystander.call('echo', { well: 1 })).answer.result.content).toHaveLength(1)
  })

  test('a crash in the middle of a call is told, and the session is over', async () => {
    const client = await PlainClient.open(gate, 'crash')
    expect((await client.call('echo')).answer.result).toBeDefined()
    const { answer } = await client.call('echo')
    expect(answer.error.message).toMatch(/exited with code 7.*giving up.*unknown/)
    expect((await client.call('echo')).status).toBe(404)
    client.session = undefined
    await client.initialize()
    expect((await client.call('echo')).answer.result).toBeDefined()
    await until(() =>
      recordsOf(gate).some((record) => record.kind === 'outcome' && record.status === 'unknown'),
    )
  })

  test.each([
    ['stillborn', /exited with code 7/],
    ['missing', /could not be started.*no such program/],
  ])('a server that does not start says so: %s', async (name, why) => {
    const { answer } = await new PlainClient(gate, name).initialize()
    expect(answer.error.message).toMatch(why)
  })

  test('a server that hangs holds nobody else, and a client that goes away ends its call', async () => {
    const client = await PlainClient.open(gate, 'hang')
    await expect(client.call('echo', {}, AbortSignal.timeout(1_000))).rejects.toThrow()
    await until(() =>
      recordsOf(gate).some((record) => record.kind === 'outcome' && record.status === 'cancelled'),
    )
    expect((await client.ask('ping')).answer.result).toEqual({})
  })

  const FLOOD_MS = rounds(2_000)
  /** Those of a server's own process are also in the stdio transport's tests. */
  const FLOODS = ['unasked', 'changes', 'messages', 'stray', 'endless']
  test.each(forms(FLOODS, 2))('a server that floods: %s', async (name) => {
    const client = await PlainClient.open(gate, name)
    const logged = gate.log.length
    const flooded = client.call('echo', { flood: true }, AbortSignal.timeout(FLOOD_MS))
    await flooded.catch(() => {})
    const other = await PlainClient.open(gate, 'echo')
    expect((await other.call('echo')).answer.result).toBeDefined()
    expect(residentMiB(gate)).toBeLessThan(400)
    // A line for each would be 2,000 a second.
    expect(gate.log.slice(logged).split('\n').length).toBeLessThan(500)
    await client.end()
  })

  test('a client that does not read makes the server wait: 200 MB stay where they are', async () => {
    const client = await PlainClient.open(gate, 'odd')
    const event = `data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'x'.repeat(60_000) } })}\n\n`
    let sent = 0
    let isClosed = false
    odd.behaviour.instead = (_, response, body) => {
      const { method, params } = JSON.parse(body || '{}')
      if (method !== 'tools/call' || params.arguments.pour !== true) return false
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.on('close', () => {
        isClosed = true
      })
      const pour = (): void => {
        while (sent < 200e6 && !isClosed) {
          sent += event.length
          if (!response.write(event)) return void response.once('drain', pour)
        }
      }
      pour()
      return true
    }
    const { host, port, hostname } = new URL(gate.url)
    const params = { name: 'echo', arguments: { pour: true } }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 9, method: 'tools/call', params })
    const types = 'content-type: application/json\r\naccept: application/json, text/event-stream'
    const head = `host: ${host}\r\n${types}\r\nmcp-session-id: ${client.session}`
    const slow = connect({ port: Number(port), host: hostname })
    slow.pause()
    await client.ask('tools/list')
    const before = residentMiB(gate)
    slow.write(`POST /mcp/odd HTTP/1.1\r\n${head}\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
    let last = -1
    let quiet = 0
    await until(() => {
      quiet = sent > 0 && sent === last ? quiet + 1 : 0
      last = sent
      return quiet > 100
    })
    // What the kernel takes on both ways, and the gate's own megabyte.
    expect(sent).toBeLessThan(40e6)
    expect(residentMiB(gate) - before).toBeLessThan(60)
    expect((await client.call('echo', { other: 1 })).answer.result).toBeDefined()
    const paused = sent
    slow.resume()
    await until(() => sent > paused + 20e6)
    slow.destroy()
    // Otherwise the call waits for its client to come back (http-session.test.ts).
    await client.end()
    await until(() => isClosed)
    odd.behaviour.instead = undefined as never
  })

  test('a server that prints garbage between its answers works', async () => {
    const client = await PlainClient.open(gate, 'garbage')
    const { answer } = await client.call('echo', { a: 1 })
    expect(answer.result.content[0].text).toBe('{"a":1}')
    const doubled = await client.call('echo', { doubled: 4 })
    expect(doubled.answer).toBeDefined()
  })

  test.each([
    ['initialize', 'null'],
    ['initialize', '[]'],
    ['initialize', '{"protocolVersion":{}}'],
    ['tools/list', 'null'],
    ['tools/list', '{"tools":{"a":1}}'],
    ['tools/list', '{"tools":[null,1,{"name":5},{"name":""},{"name":"x","inputSchema":7}]}'],
    [
      'tools/list',
      '{"tools":[{"name":"__proto__","inputSchema":{"properties":[]}}],"nextCursor":5}',
    ],
    ['prompts/list', '{"prompts":[[]]}'],
    ['tools/call', '5'],
  ])('an answer to %s that is nonsense: %s', async (method, result) => {
    odd.behaviour.instead = (_, response, body) => {
      const message = JSON.parse(body || '{}')
      if (message.method !== method) return false
      response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 's-1' })
      response.end(`{"jsonrpc":"2.0","id":${message.id},"result":${result}}`)
      return true
    }
    const client = new PlainClient(gate, 'odd')
    await client.initialize()
    for (const each of ['tools/list', 'prompts/list']) await client.ask(each)
    await client.call('x', { a: 1 })
    await client.call('echo', { a: 1 })
    odd.behaviour.instead = undefined as never
    expect(gate.process.exitCode).toBeNull()
  })

  test('a list of tools that fails is asked for again', async () => {
    let failures = 0
    odd.behaviour.instead = (_, response, body) => {
      const message = JSON.parse(body || '{}')
      if (message.method !== 'tools/list' || failures++ > 0) return false
      response.writeHead(200, { 'content-type': 'application/json' })
      const error = '{"code":-32603,"message":"not yet"}'
      response.end(`{"jsonrpc":"2.0","id":${message.id},"error":${error}}`)
      return true
    }
    const client = await PlainClient.open(gate, 'odd')
    const { answer } = await client.call('echo')
    expect(answer.error.message).toMatch(/not made: the server lists no tools: not yet/)
    expect((await client.call('echo')).answer.result).toBeDefined()
    odd.behaviour.instead = undefined as never
  })

  test('a call that is given up while it is judged is not made', async () => {
    // Before the session opens: the gate may ask for the list at any time from then on.
    const held: (() => void)[] = []
    let holding = true
    odd.behaviour.instead = (_, response, body) => {
      const message = JSON.parse(body || '{}')
      if (message.method !== 'tools/list' || !holding) return false
      held.push(() => {
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result: { tools: TOOLS } }))
      })
      return true
    }
    const client = await PlainClient.open(gate, 'odd')
    const before = odd.seen.length
    const aborter = new AbortController()
    const calling = client.call('echo', { no: 1 }, aborter.signal)
    await until(() => held.length > 0)
    // Time for the call itself to arrive, where the list was asked for before it.
    await new Promise((resolve) => setTimeout(resolve, 100))
    aborter.abort()
    await expect(calling).rejects.toThrow()
    await new Promise((resolve) => setTimeout(resolve, 100))
    holding = false
    for (const answer of held) answer()
    expect((await client.call('echo', { yes: 1 })).answer.result).toBeDefined()
    odd.behaviour.instead = undefined as never
    const bodies = odd.seen.slice(before).map(({ body }) => body)
    expect(bodies.some((body) => body.includes('"yes"'))).toBe(true)
    expect(bodies.some((body) => body.includes('"no"'))).toBe(false)
  })
})

describe('the gate itself', () => {
  afterEach(endGates)

  test('no record, no call; and it goes on by itself; a second one on its data is refused', async () => {
    const gate = await startOffice()
    const client = await PlainClient.open(gate, 'office')
    await client.call('write_note', { text: 'before' })
    const other = new DatabaseSync(join(gate.data, 'ledger.db'))
    other.exec('BEGIN IMMEDIATE')
    const { answer } = await client.call('write_note', { text: 'during' })
    expect(answer.result.content[0].text).toMatch(/cannot be recorded, so it is not made/)
    const ready = await fetch(`${gate.url}/readyz`)
    expect([ready.status, await ready.text()]).toEqual([503, expect.stringContaining('not ready')])
    other.exec('ROLLBACK')
    other.close()
    await until(async () => {
      const { answer } = await client.call('write_note', { text: 'after' })
      return answer.result.isError !== true
    })
    const texts = JSON.stringify(sentTo(gate.folder))
    expect([/before/, /during/, /after/].map((text) => text.test(texts))).toEqual([
      true,
      false,
      true,
    ])
    const again = startGate({ servers: {}, folder: gate.folder })
    await expect(again).rejects.toThrow(`process ${gate.process.pid} uses`)
  })

  test('SIGTERM lets open calls finish, takes no new ones, and leaves nothing', async () => {
    const gate = await startOffice()
    const client = await PlainClient.open(gate, 'office')
    await client.ask('tools/list')
    const slow = client.call('get_slow', { ms: 700 })
    await until(() => sentTo(gate.folder).some(({ params }) => params?.name === 'get_slow'))
    const children = childrenOf(gate)
    expect(children.length).toBeGreaterThan(0)
    const stopped = gate.stop()
    await until(() => gate.log.includes('stopping (SIGTERM)'))
    const refused = await client.call('write_note').catch(() => ({ status: 503 }))
    expect(refused.status).toBe(503)
    expect((await slow).answer.result.content).toHaveLength(1)
    expect(await stopped).toBe(0)
    expect(children.filter(isAlive)).toEqual([])
    expect(gate.log).not.toMatch(/error/)
    expect(recordsOf(gate).at(-1)).toMatchObject({ kind: 'event', name: 'stop' })
  })

  test('P3: SIGTERM waits for a call as long as `stop_within` allows, and answers what it cuts with a code', async () => {
    const gate = await startOffice()
    const client = await PlainClient.open(gate, 'office')
    await client.ask('tools/list')
    const isSent = (ms: number) => () =>
      sentTo(gate.folder).some(({ params }) => params?.arguments?.ms === ms)
    // Longer than each of the steps of a stop had for itself.
    const long = client.call('get_slow', { ms: 6_000 })
    await until(isSent(6_000))
    const stopped = gate.stop()
    expect((await long).answer.result.content).toHaveLength(1)
    expect(await stopped).toBe(0)

    const next = await startOffice(gate.folder, { stop_within: '4s' })
    const other = await PlainClient.open(next, 'office')
    await other.ask('tools/list')
    const cut = other.call('get_slow', { ms: 60_000 })
    await until(isSent(60_000))
    const ended = next.stop()
    const { error } = (await cut).answer
    expect(error.message).toMatch(/^the gate is stopping; whether .* is unknown/)
    const { record } = error.data['sluice/upstream']
    expect(error.data).toEqual({
      'sluice/upstream': { code: 'GATE_RESTARTED', repeatable: false, record },
    })
    expect(await ended).toBe(0)
    const records = recordsOf(next)
    expect(records.find(({ seq }) => seq === record)).toMatchObject({ kind: 'intent' })
    expect(records.find((one) => one.kind === 'outcome' && one.intent === record)).toMatchObject({
      status: 'unknown',
    })
    expect(records.at(-1)).toMatchObject({ kind: 'event', name: 'stop' })
  })

  test('P3: a second signal ends a gate at once, and in order', async () => {
    const gate = await startOffice(undefined, { stop_within: '5m' })
    const client = await PlainClient.open(gate, 'office')
    await client.ask('tools/list')
    const cut = client.call('get_slow', { ms: 60_000 })
    await until(() => sentTo(gate.folder).some(({ params }) => params?.name === 'get_slow'))
    gate.process.kill('SIGINT')
    await until(() => gate.log.includes('stopping (SIGINT)'))
    gate.process.kill('SIGINT')
    expect((await cut).answer.error.data['sluice/upstream'].code).toBe('GATE_RESTARTED')
    expect(await gate.exited).toBe(0)
    expect(recordsOf(gate).at(-1)).toMatchObject({ kind: 'event', name: 'stop' })
  })

  test('SIGTERM lets calls over the socket finish too', async () => {
    const gate = await startOffice()
    const pipe = await pipeTo(gate, 'office')
    const params = { protocolVersion: '2025-11-25', capabilities: {} }
    pipe.say({ id: 1, method: 'initialize', params })
    await pipe.answerTo(1)
    const slow = { name: 'get_slow', arguments: { ms: 500 } }
    pipe.say({ id: 2, method: 'tools/call', params: slow })
    await until(() => sentTo(gate.folder).some(({ method }) => method === 'tools/call'))
    expect(await gate.stop()).toBe(0)
    expect(pipe.heard.find(({ id }) => id === 2)?.result).toBeDefined()
    pipe.close()
  })

  test('a session that ends with a call open says that its outcome is unknown', async () => {
    const gate = await serveGate({ servers: { office: fixture('office', './office.log') } })
    const client = await PlainClient.open(gate, 'office')
    await client.ask('tools/list')
    const slow = client.call('get_slow', { ms: 60_000 })
    await until(() => sentTo(gate.folder).some(({ params }) => params?.name === 'get_slow'))
    await client.end()
    expect((await slow).answer.error.message).toMatch(/ended the session.*unknown/)
  })

  test('a client that goes away cancels its call at the server, and leaves no process', async () => {
    const gate = await startOffice()
    const client = await PlainClient.open(gate, 'office')
    await client.ask('tools/list')
    const aborter = new AbortController()
    const slow = client.call('get_slow', { ms: 60_000 }, aborter.signal)
    const find = (is: (message: { method?: string }) => boolean) => sentTo(gate.folder).find(is)
    await until(() => find(({ method }) => method === 'tools/call') !== undefined)
    aborter.abort()
    await expect(slow).rejects.toThrow()
    await until(() => find(({ method }) => method === 'notifications/cancelled') !== undefined)
    const { id } = find(({ method }) => method === 'tools/call')
    const cancelled = find(({ method }) => method === 'notifications/cancelled')
    expect(cancelled.params).toEqual({ requestId: id, reason: 'the client went away' })
    await client.end()
    // The watcher stays.
    await until(() => childrenOf(gate).length === 1)
  })

  test('a port in use is named', async () => {
    const blocker = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => blocker.once('listening', resolve))
    const { port } = blocker.address() as AddressInfo
    const starting = startGate({ servers: {}, arguments: ['--port', String(port)] })
    await expect(starting).rejects.toThrow(`port ${port} is in use`)
    blocker.close()
  })
})

function startOffice(folder?: string, config = {}): Promise<RunningGate> {
  const office = fixture('office', './office.log')
  const servers = { office }
  return startGate({ servers, config, ...(folder === undefined ? {} : { folder }) })
}

function residentMiB({ process }: RunningGate): number {
  const pages = readFileSync(`/proc/${process.pid}/statm`, 'utf8').split(' ')[1]
  return (Number(pages) * 4_096) / 1_048_576
}
