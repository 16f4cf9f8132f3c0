// A server that counts what it was made to do, in the file that argument 1 names: a line for each
// call, before it is answered. `read` only reads; `write` and `slow` change something, and `slow`
// takes its time. Tests read from the file how often a side effect has really happened.

import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

type Incoming = {
  id?: number
  method?: string
  params?: { name?: string; arguments?: object; _meta?: Record<string, unknown> }
}

const log = process.argv[2] ?? ''
const tools = ['read', 'write', 'slow', 'fail'].map((name) => ({
  name,
  description: `the tool ${name}`,
  inputSchema: { type: 'object' },
}))

function say(id: unknown, result: object): void {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`)
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line) as Incoming
  if (id === undefined) return
  if (method === 'initialize')
    return say(id, {
      protocolVersion: '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: 'counter', version: '1' },
    })
  if (method === 'tools/list') return say(id, { tools })
  if (method !== 'tools/call') return say(id, {})
  const name = params?.name ?? ''
  const times = process.argv[3] === 'times' ? { atMs: Date.now() } : {}
  const effect = params?._meta?.['sluice/effect']
  const entry = { name, arguments: params?.arguments, effect, ...times }
  appendFileSync(log, `${JSON.stringify(entry)}\n`)
  const answer = {
    content: [{ type: 'text', text: `${name} ${JSON.stringify(params?.arguments)}` }],
    ...(name === 'fail' ? { isError: true } : {}),
  }
  if (name === 'slow') setTimeout(() => say(id, answer), 300)
  else say(id, answer)
})
