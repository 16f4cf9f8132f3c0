// A model server that lies: an HTTP server that reports any usage it likes and repeats the request in its
// errors. Whoever listens on a port of this machine can be one.

import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Service } from '../../packages/agents/src/service/service.ts'
import { MODEL_USAGE_TOKENS_MAX } from '../../packages/agents/src/shared/limits.ts'
import { fileScratchDirectory } from '../support/scratch.ts'
import { settingsOf } from './model-server.ts'

const LONG = { timeout: 120_000 }
const KEY = 'lab-key-0123456789-abcdefghij'
const TOO_MUCH = Number.MAX_SAFE_INTEGER

const scratch = fileScratchDirectory()
let server: Server
let service: Service

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      const { model } = JSON.parse(body)
      const usage = { prompt_tokens: TOO_MUCH, completion_tokens: TOO_MUCH }
      const message = { role: 'assistant', content: 'said' }
      const answer = { choices: [{ index: 0, finish_reason: 'stop', message }], usage }
      // Close to where an error is cut: what is left of the key must not be there either.
      const echo = `${'x'.repeat(480)} ${request.headers.authorization} ${KEY}`
      const isRefused = model === 'refuses'
      response.writeHead(isRefused ? 401 : 200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(isRefused ? { error: { message: echo } } : answer))
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  const prices = { 'lab:boasts': { inputMicros: 75, outputMicros: 75 } }
  const environment = { LAB_KEY: KEY }
  const models = settingsOf({ lab: { url, keyFrom: 'LAB_KEY' } }, { environment, prices })
  service = await Service.start({ directory: join(scratch, 'data'), models })
}, 120_000)

afterAll(async () => {
  await service.close()
  server.close()
})

test(
  'usage that no sum can hold is counted with a maximum, and breaks no count',
  LONG,
  async () => {
    const { id } = await service.create('me', { model: 'lab:boasts' })
    for (let turn = 0; turn < 3; turn += 1)
      expect(await service.prompt('me', id, { input: 'go' })).toMatchObject({
        stop: { reason: 'answered' },
        usage: { totalTokens: 2 * MODEL_USAGE_TOKENS_MAX },
      })
    const { family } = await service.steps.standing('me', id, Date.now())
    expect(family).toMatchObject({ turns: 3, tokens: 6 * MODEL_USAGE_TOKENS_MAX })
    // Read by all owners.
    const range = { sinceMs: 0, untilMs: Date.now() + 3_600_000 }
    const { ranges } = await service.steps.modelUsage([range])
    expect(ranges[0]).toMatchObject([
      { modelCalls: 3, costMicros: 3 * 2 * 75 * MODEL_USAGE_TOKENS_MAX },
    ])
    await service.reset('me', id, false)
    await service.terminate('me', id)
    expect(await service.steps.list('me', null, 0, 10)).toEqual([])
  },
)

test('the key that a server repeats in its error is neither told nor stored', LONG, async () => {
  const { id } = await service.create('me', { model: 'lab:refuses' })
  const ended = await service.prompt('me', id, { input: 'go' })
  expect(ended).toMatchObject({ stop: { reason: 'model_failed' } })
  expect(JSON.stringify(ended)).toContain('Bearer [key]')
  const { exported } = await service.export('me', id, 'json', 'keep')
  const files = readdirSync(join(scratch, 'data')).filter((name) => name.startsWith('agents.db'))
  const stored = files.map((name) => readFileSync(join(scratch, 'data', name), 'latin1'))
  expect(stored.join('')).toContain('Bearer [key]')
  for (const text of [JSON.stringify([ended, exported]), ...stored])
    expect(text).not.toContain(KEY.slice(0, 8))
})
