// Links over HTTP: streams with back-pressure, and a published server.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer as createTcp } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, test, vi } from 'vitest'
import { writeEvent } from '../../../../../test/servers/http.ts'
import { until } from '../ask.test-support.ts'
import { HTTP_LISTEN_JSON_MS_MAX } from '../limits.ts'
import { connect, EVENTS, isCall, serve, up } from './http.test-support.ts'

describe('streams', () => {
  test('an answer whose stream broke off comes on the stream that goes on from the last event', async () => {
    let call: { id: number } | undefined
    const server = await serve({
      instead: (request, response, body) => {
        if (isCall(body)) {
          call = JSON.parse(body) as { id: number }
          response.writeHead(200, EVENTS).end('id: first\nretry: 100\ndata:\n\n')
          return true
        }
        if (request.headers['last-event-id'] !== 'first') return false
        response.writeHead(200, EVENTS)
        writeEvent(response, { method: 'notifications/message', params: { data: 1 } })
        writeEvent(response, {
          id: call?.id,
          result: { content: [{ type: 'text', text: 'late' }] },
        })
        return true
      },
    })
    const { asker } = connect(server.url)
    await asker.initialize()
    expect(await asker.call('echo')).toBe('late')
    expect(asker.others[0]?.related).toEqual({ request: asker.lastId })
  })

  test('abort ends the exchange of that request, and no other', async () => {
    const ended: unknown[] = []
    let begun = 0
    const { asker, link } = await up({
      instead: (_, response, body) => {
        if (!isCall(body)) return false
        begun += 1
        response.writeHead(200, EVENTS).flushHeaders()
        response.on('close', () => ended.push((JSON.parse(body) as { id: number }).id))
        return true
      },
    })
    void asker.ask('tools/call', { name: 'a' })
    void asker.ask('tools/call', { name: 'b' })
    await until(() => begun === 2)
    link.abort(asker.lastId)
    await until(() => ended.length === 1)
    expect(ended).toEqual([asker.lastId])
    await sleep(50)
    expect(ended).toHaveLength(1)
    expect(asker.failures).toEqual([])
  })

  test('a receiver that pauses stops the server; nothing is lost', async () => {
    let written = 0
    const data = 'y'.repeat(60_000)
    const { asker, link } = await up({
      instead: (_, response, body) => {
        if (!isCall(body)) return false
        const { id } = JSON.parse(body) as { id: number }
        response.writeHead(200, EVENTS)
        const pour = (): void => {
          while (written < 500) {
            written += 1
            const params = { level: 'info', data, written }
            if (!writeEvent(response, { method: 'notifications/message', params }))
              return void response.once('drain', pour)
          }
          writeEvent(response, { id, result: { content: [] } })
          response.end()
        }
        pour()
        return true
      },
    })
    link.pause()
    const answer = asker.ask('tools/call', { name: 'a' })
    await sleep(500)
    const seen = asker.others.length
    expect(seen).toBeLessThan(3)
    expect(written).toBeLessThan(300)
    link.resume()
    expect(await answer).toMatchObject({ kind: 'answer' })
    expect(asker.others).toHaveLength(500)
  })

  test('a server that floods a stream is slowed down, and memory stays bounded', async () => {
    const flooding = await up({
      instead: (_, response, body) => {
        if (!isCall(body)) return false
        response.writeHead(200, EVENTS)
        const event = { method: 'notifications/message', params: { data: 'y'.repeat(200) } }
        const pour = (): void => {
          for (let n = 0; n < 100; n += 1)
            if (!writeEvent(response, event)) return void response.once('drain', pour)
          setImmediate(pour)
        }
        pour()
        return true
      },
    })
    let received = 0
    flooding.asker.onEvery = () => {
      received += 1
    }
    const began = performance.now()
    void flooding.asker.ask('tools/call', { name: 'a' })
    await sleep(500)
    const before = process.memoryUsage().rss
    const other = await up()
    for (let calls = 0; calls < 100; calls += 1) await other.asker.call('echo')
    const seconds = (performance.now() - began) / 1_000
    expect((process.memoryUsage().rss - before) / 1_048_576).toBeLessThan(128)
    expect(received).toBeLessThan(5_000 * (1 + seconds))
  })

  test('a server that never ends its streams does not take every connection', async () => {
    let open = 0
    const { asker } = await up({
      instead: (_, response, body) => {
        if (!isCall(body)) return false
        open += 1
        response.on('close', () => {
          open -= 1
        })
        response.writeHead(200, EVENTS)
        const { id } = JSON.parse(body) as { id: number }
        writeEvent(response, { id, result: { content: [{ type: 'text', text: 'x' }] } })
        return true
      },
    })
    for (let n = 0; n < 120; n += 1) await asker.call('echo')
    await until(() => open < 80)
  })
})

test('F8: a subscription answered in JSON without an end is an error, not a silence', async () => {
  const server = await serve({
    instead: (_, response, body) => {
      if (!body.includes('subscriptions/listen')) return false
      response.writeHead(200, { 'content-type': 'application/json' })
      response.write('{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged"}\n')
      return true
    },
  })
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  try {
    const { asker } = connect(server.url, { generation: 'stateless' })
    const passing = { id: 1, method: 'subscriptions/listen', params: undefined }
    const asked = asker.ask('subscriptions/listen', {}, { passing })
    await vi.waitFor(() => expect(server.seen).toHaveLength(1), { interval: 5, timeout: 60_000 })
    let isAnswered = false
    const answered = asked.then((failure) => {
      isAnswered = true
      return failure
    })
    while (!isAnswered) await vi.advanceTimersByTimeAsync(HTTP_LISTEN_JSON_MS_MAX)
    expect(await answered).toMatchObject({ code: 'UPSTREAM_BAD_ANSWER', request: 1 })
  } finally {
    vi.useRealTimers()
  }
})

describe('a published server', () => {
  test('everything, over Streamable HTTP: list, call, progress, and its DELETE', async () => {
    const file = fileURLToPath(
      import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'),
    )
    const probe = createTcp().listen(0, '127.0.0.1')
    await once(probe, 'listening')
    const { port } = probe.address() as AddressInfo
    await new Promise((resolve) => probe.close(resolve))
    const child = spawn(process.execPath, [file, 'streamableHttp'], {
      env: { ...process.env, PORT: String(port) },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let received = ''
    child.stderr.on('data', (chunk) => {
      received += chunk
    })
    child.stdout.on('data', (chunk) => {
      received += chunk
    })
    try {
      await until(() => received.includes(String(port)))
      const { asker, link } = connect(`http://127.0.0.1:${port}/mcp`)
      await asker.initialize()
      const { tools } = (await asker.result('tools/list')) as { tools: { name: string }[] }
      expect(tools.length).toBeGreaterThan(5)
      expect(await asker.call('echo', { message: 'hi' })).toContain('hi')
      await asker.result('tools/call', {
        name: 'trigger-long-running-operation',
        arguments: { duration: 0.3, steps: 3 },
        _meta: { progressToken: 'p' },
      })
      const progress = asker.others.filter(
        ({ message }) => 'method' in message && message.method === 'notifications/progress',
      )
      expect(progress.length).toBeGreaterThan(1)
      expect(progress[0]?.related).toEqual({ request: asker.lastId })
      link.close('done')
      await link.ended
    } finally {
      child.kill('SIGKILL')
    }
  })
})
