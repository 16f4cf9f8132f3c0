// A model on loopback that plays a script: OpenAI's chat completions, without streaming. The script is argument 1, the
// messages of the model in their order as JSON; what comes next is known by the messages that it has said already.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ScriptedMessage } from './start-model.ts'

interface ModelRequest {
  readonly messages: readonly { readonly role: string }[]
}

const script: readonly ScriptedMessage[] = JSON.parse(process.argv[2] ?? '[]')

const server = createServer((request, response) => {
  let body = ''
  request.on('data', (chunk) => {
    body += chunk
  })
  request.on('end', () => {
    const { messages } = JSON.parse(body) as ModelRequest
    const at = messages.filter(({ role }) => role === 'assistant').length
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(toCompletion(script[at] ?? { text: 'That is all.' })))
  })
})

function toCompletion({ text, calls = [] }: ScriptedMessage): object {
  const toolCalls = calls.map(({ id, name, args }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }))
  const message = {
    role: 'assistant',
    content: text ?? null,
    ...(calls.length === 0 ? {} : { tool_calls: toolCalls }),
  }
  const finish_reason = calls.length === 0 ? 'stop' : 'tool_calls'
  return {
    id: 'chat_1',
    object: 'chat.completion',
    created: 1,
    model: 'scripted',
    choices: [{ index: 0, message, finish_reason }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  }
}

server.listen(0, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`)
})
