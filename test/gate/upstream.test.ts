// A published server over Streamable HTTP behind the gate: sessions, streams and questions cross two
// HTTP connections as they cross one.

import type { ChildProcess } from 'node:child_process'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startEverything } from '../support/http-server.ts'
import { serveGate } from '../support/own-gate.ts'
import { recordsOf } from '../support/plain-client.ts'
import { type RealClient, throughGate } from '../support/real-client.ts'
import { endGates, type ServingGate, until } from '../support/start-gate.ts'

let server: ChildProcess
let gate: ServingGate
let real: RealClient

beforeAll(async () => {
  const everything = await startEverything()
  server = everything.process
  gate = await serveGate({ servers: { everything: { url: everything.url } } })
  real = await throughGate(gate, 'everything')
})
afterAll(async () => {
  await real?.close()
  await endGates()
  server.kill()
})

test('lists and calls', async () => {
  const { tools } = await real.client.listTools()
  expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['echo', 'get-sum']))
  const sum = await real.client.callTool({ name: 'get-sum', arguments: { a: 1, b: 2 } })
  expect(JSON.stringify(sum.content)).toContain('3')
})

test('progress, sampling and elicitation cross', async () => {
  const seen: number[] = []
  const slow = { name: 'trigger-long-running-operation', arguments: { duration: 0.3, steps: 3 } }
  const onprogress = ({ progress }: { progress: number }) => void seen.push(progress)
  await real.client.callTool(slow, undefined, { onprogress })
  expect(seen.slice(0, 2)).toEqual([1, 2])
  const sampled = await real.client.callTool({
    name: 'trigger-sampling-request',
    arguments: { prompt: 'hi', maxTokens: 7 },
  })
  expect(JSON.stringify(sampled)).toContain('sampled for 7')
  const elicited = await real.client.callTool({
    name: 'trigger-elicitation-request',
    arguments: {},
  })
  expect(JSON.stringify(elicited)).toContain('A Name')
})

test('log messages arrive on the stream of the client', async () => {
  await real.client.setLoggingLevel('debug')
  await real.client.callTool({ name: 'toggle-simulated-logging', arguments: {} })
  await until(() => real.notifications.some(({ method }) => method === 'notifications/message'))
  await real.client.callTool({ name: 'toggle-simulated-logging', arguments: {} })
})

test('a cancelled call is over, and a server that goes away is told of', async () => {
  const aborter = new AbortController()
  const call = { name: 'trigger-long-running-operation', arguments: { duration: 30, steps: 1 } }
  const calling = real.client.callTool(call, undefined, { signal: aborter.signal })
  setTimeout(() => aborter.abort('enough'), 200)
  await expect(calling).rejects.toThrow('enough')
  let begun = false
  const steady = { ...call, arguments: { duration: 30, steps: 300 } }
  const onprogress = (): void => {
    begun = true
  }
  const broken = real.client.callTool(steady, undefined, { onprogress })
  const rejects = expect(broken).rejects.toThrow(/unknown|closed|broke|outcome/i)
  await until(() => begun)
  server.kill('SIGKILL')
  await rejects
  await until(() =>
    recordsOf(gate).some((record) => record.kind === 'outcome' && record.status === 'cancelled'),
  )
})
