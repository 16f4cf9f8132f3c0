// A model on loopback that asks for one shell command and is content with whatever comes back: enough for a
// coding agent to run its loop once. Speaks the streaming APIs of Anthropic, OpenAI (responses and chat
// completions) and Google.

import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface FakeModel {
  readonly url: string
  /** What the client sent back as results of the command. */
  readonly results: string[]
  /** What the model asks for from now on. */
  command: string
  close(): void
}

export async function startFakeModel(): Promise<FakeModel> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => answer(request.url ?? '', Buffer.concat(chunks).toString(), response))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const model = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    results: [] as string[],
    command: 'true',
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }

  function answer(url: string, body: string, response: ServerResponse): void {
    if (!/\/v1\/messages(?:\?|$)/.test(url)) {
      response.writeHead(url.includes('count_tokens') ? 200 : 404, JSON_TYPE)
      return void response.end('{"input_tokens":1}')
    }
    const { messages, tools = [] } = JSON.parse(body)
    const last = JSON.stringify(messages.at(-1))
    const isDone = last.includes('tool_result') || tools.length === 0
    if (last.includes('tool_result')) model.results.push(last)
    const block = isDone
      ? { type: 'text', text: '' }
      : { type: 'tool_use', id: `toolu_${Date.now()}`, name: 'Bash', input: {} }
    const delta = isDone
      ? { type: 'text_delta', text: 'done' }
      : {
          type: 'input_json_delta',
          partial_json: JSON.stringify({ command: model.command, description: 'x' }),
        }
    const usage = { input_tokens: 1, output_tokens: 1 }
    const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'fake', content: [] }
    events(response, [
      ['message_start', { message: { ...message, stop_reason: null, stop_sequence: null, usage } }],
      ['content_block_start', { index: 0, content_block: block }],
      ['content_block_delta', { index: 0, delta }],
      ['content_block_stop', { index: 0 }],
      [
        'message_delta',
        { delta: { stop_reason: isDone ? 'end_turn' : 'tool_use', stop_sequence: null }, usage },
      ],
      ['message_stop', {}],
    ])
  }
  return model
}

const JSON_TYPE = { 'content-type': 'application/json' }

function events(response: ServerResponse, list: readonly (readonly [string, object])[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const [type, data] of list)
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`)
  response.end()
}
