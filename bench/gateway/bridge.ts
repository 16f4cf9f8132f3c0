// The lower bound of a bridge from HTTP to a server on stdio: one shared process, lines in, lines
// out, ids renamed and nothing else read. Arguments: the server's command.

import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'

interface Answer {
  readonly id: number
  readonly result?: unknown
  readonly error?: unknown
}

const [command, ...args] = process.argv.slice(2)
const child = spawn(command as string, args, { stdio: ['pipe', 'pipe', 'inherit'] })
const waiting = new Map<number, (answer: Answer) => void>()
let lastId = 0
let rest = ''

child.stdout.setEncoding('utf8').on('data', (chunk) => {
  const lines = (rest + chunk).split('\n')
  rest = lines.pop() as string
  for (const line of lines) {
    const answer = JSON.parse(line) as Answer
    waiting.get(answer.id)?.(answer)
    waiting.delete(answer.id)
  }
})

const server = createServer((request, response) => {
  if (request.method !== 'POST')
    return void response.writeHead(request.method === 'DELETE' ? 200 : 405).end()
  let text = ''
  request.setEncoding('utf8').on('data', (chunk) => {
    text += chunk
  })
  request.on('end', () => {
    const request = JSON.parse(text) as { id?: number; method: string }
    const { id: theirs } = request
    if (theirs === undefined) return response.writeHead(202, { 'content-length': 0 }).end()
    const id = ++lastId
    waiting.set(id, (answer) => {
      const body = JSON.stringify({ ...answer, id: theirs })
      const length = Buffer.byteLength(body)
      const session = request.method === 'initialize' ? { 'mcp-session-id': randomUUID() } : {}
      const headers = { 'content-type': 'application/json', 'content-length': length }
      response.writeHead(200, { ...headers, ...session }).end(body)
    })
    return child.stdin.write(`${JSON.stringify({ ...request, id })}\n`)
  })
})
server.keepAliveTimeout = 600_000
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as { port: number }
  console.log(`ready http://127.0.0.1:${port}/mcp`)
})
process.once('SIGTERM', () => {
  child.kill()
  process.exit(0)
})
