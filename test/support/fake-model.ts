// A model on loopback that asks for one shell command and is content with whatever comes back: enough for a
// coding agent to run its loop once. Speaks the streaming APIs of Anthropic, OpenAI (responses) and Google.

import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface FakeModel {
  readonly url: string
  /** What the client sent back as results of the command. */
  readonly results: string[]
  /** What the model asks for from now on. */
  command: string
  /** What it asks for in place of the command, by the results so far; nothing ends the turn. */
  next: ((results: readonly string[]) => FakeCall | undefined) | undefined
  /** The tools that clients have offered so far, with the names of their arguments. */
  readonly offered: Map<string, string[]>
  close(): void
}

export interface FakeCall {
  readonly tool: string
  readonly input: object
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
    next: undefined as FakeModel['next'],
    offered: new Map<string, string[]>(),
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }

  function answer(url: string, body: string, response: ServerResponse): void {
    if (url.includes('/v1/messages/count_tokens')) {
      response.writeHead(200, { 'content-type': 'application/json' })
      return void response.end('{"input_tokens":1}')
    }
    const api = APIS.find(({ path }) => path.test(url))
    if (api === undefined || body === '') return void response.writeHead(404).end()
    const request = JSON.parse(body)
    for (const tool of listOffered(request.tools ?? [])) model.offered.set(...tool)
    const result = api.resultOf(request)
    if (result !== undefined) model.results.push(result)
    const call = model.next?.(model.results)
    const isCommand = model.next === undefined && result === undefined
    const wanted = (name: string) => (isCommand ? SHELL.test(name) : name === call?.tool)
    const tool = api.toolsOf(request).find(wanted)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const event of api.answer(tool, model.command, call?.input)) {
      if ('type' in event) response.write(`event: ${event.type}\n`)
      response.write(`data: ${JSON.stringify(event)}\n\n`)
    }
    response.end()
  }
  return model
}

/** Groups of tools stand for what is in them. */
function listOffered(tools: readonly Request[]): [name: string, args: string[]][] {
  return tools.flatMap((tool): [string, string[]][] => {
    const group = tool.functionDeclarations ?? tool.tools
    if (group !== undefined) return listOffered(group)
    const schema = tool.input_schema ?? tool.parameters ?? tool.parametersJsonSchema
    return [[String(tool.name ?? tool.type), Object.keys(schema?.properties ?? {}).sort()]]
  })
}

/** What clients call their shell. */
const SHELL = /^(?:bash|shell|shell_command|exec_command|run_shell_command)$/i

// biome-ignore lint/suspicious/noExplicitAny: requests of three APIs
type Request = any

interface Api {
  readonly path: RegExp
  readonly toolsOf: (request: Request) => string[]
  /** What the client sent back as the result of the command. */
  readonly resultOf: (request: Request) => string | undefined
  /** A call of the shell, or of another tool with its input, or a text. */
  readonly answer: (tool: string | undefined, command: string, input?: object) => object[]
}

let described = 0
/** Models word the description of a line differently each time they write it, and choose another timeout. */
const describeAgain = () => {
  const time = ++described
  return { description: `Runs it, in words of time ${time}`, timeout: 60_000 + time }
}

const USAGE = { input_tokens: 1, output_tokens: 1 }
/** Clients may put a reminder of their own behind a result. */
const sinceLastAnswer = (messages: Request[]): Request[] =>
  messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1)
const lastOf = (list: readonly unknown[], mark: string): string | undefined => {
  const text = JSON.stringify(list.at(-1) ?? '')
  return text.includes(mark) ? text : undefined
}

const ANTHROPIC: Api = {
  path: /\/messages(?:\?|$)/,
  toolsOf: ({ tools = [] }) => tools.map(({ name }: { name: string }) => name),
  resultOf: ({ messages }) => lastOf([sinceLastAnswer(messages)], 'tool_result'),
  answer: (shell, command, given) => {
    const input = JSON.stringify(given ?? { command, ...describeAgain() })
    const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'fake', content: [] }
    const stop = { stop_reason: shell === undefined ? 'end_turn' : 'tool_use', stop_sequence: null }
    return [
      { type: 'message_start', message: { ...message, stop_reason: null, usage: USAGE } },
      {
        type: 'content_block_start',
        index: 0,
        content_block:
          shell === undefined
            ? { type: 'text', text: '' }
            : { type: 'tool_use', id: `toolu_${Date.now()}`, name: shell, input: {} },
      },
      {
        type: 'content_block_delta',
        index: 0,
        delta:
          shell === undefined
            ? { type: 'text_delta', text: 'done' }
            : { type: 'input_json_delta', partial_json: input },
      },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: stop, usage: USAGE },
      { type: 'message_stop' },
    ]
  },
}

const OPENAI: Api = {
  path: /\/responses(?:\?|$)/,
  toolsOf: ({ tools = [] }) => tools.map(({ name }: { name: string }) => name),
  resultOf: ({ input }) => lastOf(input, 'function_call_output'),
  answer: (shell, command, given) => {
    const line =
      shell === 'shell' ? { command: ['bash', '-lc', command] } : { command, cmd: command }
    const args = given ?? line
    const item =
      shell === undefined
        ? { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'done' }] }
        : {
            type: 'function_call',
            call_id: `call_${Date.now()}`,
            name: shell,
            arguments: JSON.stringify(args),
          }
    const usage = { ...USAGE, total_tokens: 2 }
    return [
      { type: 'response.created', response: { id: 'r1' } },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: { id: 'r1', usage } },
    ]
  },
}

const GOOGLE: Api = {
  path: /:streamGenerateContent/,
  toolsOf: ({ tools = [] }) =>
    tools.flatMap(({ functionDeclarations = [] }) =>
      functionDeclarations.map(({ name }: { name: string }) => name),
    ),
  resultOf: ({ contents }) => lastOf(contents, 'functionResponse'),
  answer: (shell, command, given) => {
    const args = given ?? { command, description: describeAgain().description }
    const part = shell === undefined ? { text: 'done' } : { functionCall: { name: shell, args } }
    const content = { role: 'model', parts: [part] }
    return [{ candidates: [{ content, finishReason: 'STOP', index: 0 }] }]
  },
}

const APIS: readonly Api[] = [ANTHROPIC, OPENAI, GOOGLE]
