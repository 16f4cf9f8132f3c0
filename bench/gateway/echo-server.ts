// The server behind every gateway of the measurement: MCP with one tool, `echo`, with minimal work.
// Streamable HTTP on a free port (`ready <url>` on stdout), or stdio with `--stdio`; `--tools N`
// lists N more. A separate process.

import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'

interface EchoRequest {
  readonly id?: number | string
  readonly method: string
  readonly params?: {
    readonly protocolVersion?: string
    readonly arguments?: { readonly message?: string }
  }
}

const SCHEMA = {
  type: 'object',
  properties: { message: { type: 'string' } },
  required: ['message'],
}

/** Of every category, so that a board has something in every column. */
const VERBS = ['read', 'list', 'update', 'create', 'delete', 'execute']
const MORE = Array.from({ length: moreTools() }, (_, at) => ({
  name: `${VERBS[at % VERBS.length]}_tool-${at}`,
  description: `${VERBS[at % VERBS.length]}s the thing of number ${at}`,
  inputSchema: SCHEMA,
}))

function moreTools(): number {
  const at = process.argv.indexOf('--tools')
  return at < 0 ? 0 : Number(process.argv[at + 1])
}

function createResult({ method, params }: EchoRequest): unknown {
  if (method === 'tools/call')
    return { content: [{ type: 'text', text: `Echo: ${params?.arguments?.message}` }] }
  if (method === 'tools/list')
    return {
      tools: [{ name: 'echo', description: 'says it again', inputSchema: SCHEMA }, ...MORE],
    }
  if (method === 'initialize')
    return {
      protocolVersion: params?.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'echo', version: '1' },
    }
  return method === 'ping' ? {} : undefined
}

/** Undefined if there is nothing to answer. */
function answerTo(text: string): { body: string; isFirst: boolean } | undefined {
  const request = JSON.parse(text) as EchoRequest
  const { id, method } = request
  if (id === undefined) return undefined
  const result = createResult(request)
  const rest = result === undefined ? { error: { code: -32601, message: method } } : { result }
  return { body: JSON.stringify({ jsonrpc: '2.0', id, ...rest }), isFirst: method === 'initialize' }
}

if (process.argv.includes('--stdio')) {
  let rest = ''
  process.stdin.setEncoding('utf8').on('data', (chunk) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() as string
    let answers = ''
    for (const line of lines) {
      const answer = line.trim() === '' ? undefined : answerTo(line)
      if (answer !== undefined) answers += `${answer.body}\n`
    }
    if (answers !== '') process.stdout.write(answers)
  })
} else {
  const server = createServer((request, response) => {
    if (request.method !== 'POST')
      return void response.writeHead(request.method === 'DELETE' ? 200 : 405).end()
    let text = ''
    request.setEncoding('utf8').on('data', (chunk) => {
      text += chunk
    })
    request.on('end', () => {
      const answer = answerTo(text)
      if (answer === undefined) return response.writeHead(202, { 'content-length': 0 }).end()
      const session = answer.isFirst ? { 'mcp-session-id': randomUUID() } : {}
      const length = Buffer.byteLength(answer.body)
      const headers = { 'content-type': 'application/json', 'content-length': length }
      return response.writeHead(200, { ...headers, ...session }).end(answer.body)
    })
  })
  server.keepAliveTimeout = 600_000
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as { port: number }
    console.log(`ready http://127.0.0.1:${port}/mcp`)
  })
}
