// A model server as people run on their own machine: OpenAI's chat completions over HTTP. It plays
// turns from the directory that argument 1 names, `<model>.json`, by the number of answers that the
// conversation has; `{ "status": 503 }` fails once and then plays on; `{{n}}` is the number of the
// request. Says its URL on stdout, and every request, a line each, in `<model>.log` beside it.

import { appendFileSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

interface Turn {
  readonly text?: string
  readonly toolCalls?: readonly {
    readonly name: string
    readonly input?: unknown
    /** In the place of its own number. */
    readonly id?: string
    /** The text of the arguments, in the place of `input`. */
    readonly json?: string
  }[]
  readonly status?: number
  readonly delayMs?: number
  /** Usage as a server would count it, by what it was sent; it goes up and down with the requests. */
  readonly counts?: boolean
  readonly hang?: boolean
}

interface Request {
  readonly model: string
  readonly stream?: boolean
  readonly messages: readonly { readonly role: string }[]
}

const [, , directory = ''] = process.argv
const failed = new Set<string>()
let count = 0

const server = createServer((request, response) => {
  let body = ''
  request.on('data', (chunk) => {
    body += chunk
  })
  request.on('end', () => {
    count += 1
    const { messages, model, stream } = JSON.parse(body) as Request
    appendFileSync(join(directory, `${model}.log`), `${body}\n`)
    const text = readFileSync(join(directory, `${model}.json`), 'utf8')
    const turns = JSON.parse(text.replaceAll('{{n}}', String(count))) as Turn[]
    const at = messages.filter(({ role }) => role === 'assistant').length
    const turn = turns[at] ?? { text: 'nothing left to say' }
    if (turn.hang) return
    if (turn.status !== undefined && !failed.has(`${model} ${at}`)) {
      failed.add(`${model} ${at}`)
      response.writeHead(turn.status, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ error: { message: 'not now', type: 'overloaded' } }))
      return
    }
    const usage = turn.counts
      ? { input: Math.ceil(body.length / 4), output: 7 + ((count * 5) % 7) }
      : { input: 20, output: 7 }
    // What it would send a bill for, whoever is there to hear the answer.
    appendFileSync(join(directory, `${model}.spent`), `${JSON.stringify(usage)}\n`)
    setTimeout(() => {
      const type = stream === true ? 'text/event-stream' : 'application/json'
      response.writeHead(200, { 'content-type': type })
      const whole = completion(turn, at, usage)
      response.end(stream === true ? toStream(whole) : JSON.stringify(whole))
    }, turn.delayMs ?? 0)
  })
})

/** The same word by word, as events; usage comes last. */
function toStream({ choices, usage, ...head }: ReturnType<typeof completion>): string {
  const [{ message, finish_reason }] = choices
  const deltas = [
    ...(message.content ?? '').split(/(?<= )/).map((content) => ({ content })),
    ...(message.tool_calls ?? []).map((call, index) => ({ tool_calls: [{ index, ...call }] })),
  ]
  const chunks = [
    ...deltas.map((delta) => ({ choices: [{ index: 0, delta }] })),
    { choices: [{ index: 0, delta: {}, finish_reason }] },
    { choices: [], usage },
  ]
  const events = chunks.map((chunk) => JSON.stringify({ ...head, ...chunk }))
  return [...events, '[DONE]'].map((data) => `data: ${data}\n\n`).join('')
}

function completion(turn: Turn, at: number, { input, output }: Record<string, number>) {
  const calls = (turn.toolCalls ?? []).map(({ name, input, id, json }, index) => ({
    id: id ?? `call_${at}_${index}`,
    type: 'function',
    function: { name, arguments: json ?? JSON.stringify(input) },
  }))
  return {
    id: `chat_${at}`,
    object: 'chat.completion',
    created: 1,
    model: 'turns',
    choices: [
      {
        index: 0,
        finish_reason: calls.length > 0 ? 'tool_calls' : 'stop',
        message: {
          role: 'assistant',
          content: turn.text ?? null,
          ...(calls.length > 0 ? { tool_calls: calls } : {}),
        },
      },
    ] as const,
    usage: {
      prompt_tokens: input,
      completion_tokens: output,
      total_tokens: Number(input) + Number(output),
    },
  }
}

server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1\n`)
})
