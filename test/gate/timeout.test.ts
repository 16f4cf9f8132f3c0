// A server that hangs: the call ends after the server's time, its outcome unknown and on record, and
// nobody else notices. The log says so, as JSON where that was asked for.

import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { serveHttp, writeEvent } from '../servers/http.ts'
import { bytesTo, PlainClient, recordsOf } from '../support/plain-client.ts'
import { fileScratchDirectory } from '../support/scratch.ts'
import { endGates, fixture, startGate, until } from '../support/start-gate.ts'

afterAll(endGates)

test('a call that is not answered in time ends, and the server is told', async () => {
  const folder = fileScratchDirectory()
  const office = { ...fixture('office', join(folder, 'office.log')), timeout: 5 }
  const server = await serveHttp()
  server.behaviour.instead = (_request, response, body) => {
    const { id, method, params } = JSON.parse(body || '{}')
    if (method !== 'tools/call') return false
    // For longer than the timeout, and never silent for so long.
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const progressToken = params._meta?.progressToken
    let progress = 0
    const timer = setInterval(() => {
      progress++
      const params = { progressToken, progress }
      if (progress < 30) writeEvent(response, { method: 'notifications/progress', params })
      else {
        clearInterval(timer)
        writeEvent(response, { id, result: { content: [{ type: 'text', text: 'done' }] } })
        response.end()
      }
    }, 200)
    return true
  }
  const desk = { url: server.url, timeout: 5 }
  const gate = await startGate({ servers: { office, desk }, folder, arguments: ['--log', 'json'] })
  const working = PlainClient.open(gate, 'desk').then((client) =>
    client.ask('tools/call', { name: 'echo', arguments: {}, _meta: { progressToken: 'p' } }),
  )
  const client = await PlainClient.open(gate, 'office')
  const hanging = client.call('get_slow', { ms: 600_000 })
  expect((await client.call('read_file', { path: 'a' })).answer.result).toBeDefined()
  const { error } = (await hanging).answer
  expect(error.message).toMatch(/`office` did not answer tools\/call `get_slow` in time.*unknown/)
  expect(error.data['sluice/upstream']).toMatchObject({ code: 'UPSTREAM_TIMEOUT' })
  await until(() => bytesTo(folder).includes('notifications/cancelled'))
  expect((await client.call('read_file', { path: 'b' })).answer.result).toBeDefined()
  expect((await working).answer.result.content[0].text).toBe('done')
  await gate.stop()
  const outcomes = recordsOf(gate).flatMap((record) =>
    record.kind === 'outcome' ? [record.status] : [],
  )
  expect(outcomes.sort()).toEqual(['answered', 'answered', 'answered', 'unknown'])
  const lines = gate.log.split('\n').filter((line) => line !== '')
  const entry = lines.map((line) => JSON.parse(line)).find(({ msg }) => msg.includes('in time'))
  expect(entry).toMatchObject({ level: 'warn', server: 'office', session: expect.any(String) })
  await server.close()
})
