// Providers at an address of one's own, in the three forms of requests: what the server is sent and what is read of it.

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  callModel,
  checkModel,
  type ModelProvider,
} from '../../packages/agents/src/models/models.ts'
import { settingsOf } from './model-server.ts'

/** What a server of each form answers, as JSON. */
const ANSWERS: Readonly<Record<string, object>> = {
  '/v1/messages': {
    id: 'm',
    type: 'message',
    role: 'assistant',
    model: 'x',
    content: [{ type: 'text', text: 'from anthropic' }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 3, output_tokens: 2 },
  },
  '/v1/responses': {
    id: 'r',
    object: 'response',
    created_at: 1,
    model: 'x',
    status: 'completed',
    output: [
      {
        type: 'message',
        id: 'o',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: 'from responses', annotations: [] }],
      },
    ],
    usage: { input_tokens: 3, output_tokens: 2 },
  },
  '/v1/chat/completions': {
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'x',
    choices: [
      { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'from chat' } },
    ],
    usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
  },
}
const asked: string[] = []
let server: Server
let url = ''

beforeAll(async () => {
  server = createServer((request, response) => {
    const { authorization = '', 'x-api-key': key = '' } = request.headers
    asked.push(`${request.url} ${authorization}${key}`)
    const answer = ANSWERS[request.url ?? '']
    response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(answer ?? {}))
    request.resume()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
})
afterAll(() => server.close())

function ask(name: string, provider: ModelProvider) {
  const settings = settingsOf({ [name]: { url, keyFrom: 'MY_KEY', ...provider } })
  const { signal } = new AbortController()
  return callModel(
    {
      model: `${name}:x`,
      instructions: 'be brief',
      messages: [{ role: 'user', content: 'hi' }],
      tools: [],
      turn: 0,
      signal,
    },
    { ...settings, environment: { MY_KEY: 'secret-1' } },
  )
}

test.each([
  ['proxy', 'anthropic', '/v1/messages secret-1', 'from anthropic'],
  ['proxy', 'responses', '/v1/responses Bearer secret-1', 'from responses'],
  ['proxy', 'chat', '/v1/chat/completions Bearer secret-1', 'from chat'],
  // An entry takes the place of the provider that is known by its name.
  ['openai', 'chat', '/v1/chat/completions Bearer secret-1', 'from chat'],
] as const)('%s with `api: %s`', async (name, api, request, text) => {
  const answer = await ask(name, { api })
  expect(answer).toMatchObject({ text, usage: { inputTokens: 3, outputTokens: 2 } })
  expect(asked.at(-1)).toBe(request)
})

test('without a key that its entry names, a prompt is refused', () => {
  const settings = settingsOf({ anthropic: { url, api: 'anthropic', keyFrom: 'MY_KEY' } })
  expect(() => checkModel('anthropic:x', settings)).toThrow('set MY_KEY')
})
