// The least an MCP server over stdio has to say, by hand: what the fixture servers of this folder are
// made of. It trusts its input, as servers do.

import { readlinkSync } from 'node:fs'
import { createInterface } from 'node:readline'

export type Call = { name: string; arguments: Record<string, unknown> }
type Incoming = { id?: number | string; method?: string; params?: Record<string, unknown> }

export const TOOLS = ['echo', 'env', 'big', 'notify', 'pid'].map((name) => ({
  name,
  description: `the tool ${name} of a fixture server`,
  inputSchema: { type: 'object' },
}))

export function say(message: object): void {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
}

export function textResult(text: string): object {
  return { content: [{ type: 'text', text }] }
}

/** Names this process: an isolated one has a pid namespace of its own, in which pids repeat. */
const PROCESS = `${process.platform === 'linux' ? readlinkSync('/proc/self/ns/pid') : ''} ${process.pid}`

/** What the tools of every fixture do. */
export function callTool({ name, arguments: args }: Call, notify: (n: number) => void): object {
  if (name === 'env') return textResult(JSON.stringify(process.env))
  if (name === 'pid') return textResult(PROCESS)
  if (name === 'big') return textResult(bigText(Number(args.bytes), String(args.of ?? 'x')))
  if (name === 'notify') for (let n = 0; n < Number(args.count); n += 1) notify(n)
  return textResult(JSON.stringify(args))
}

/** `of` again and again, as long as it has at most so many bytes. */
function bigText(bytes: number, of: string): string {
  return of.repeat(Math.floor(bytes / Buffer.byteLength(of)))
}

export function resultOf(message: Incoming, call: (call: Call) => object): object | undefined {
  const { method, params } = message
  if (method === 'initialize')
    return {
      protocolVersion: params?.protocolVersion ?? '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: 'fixture', version: '1' },
    }
  if (method === 'tools/list') return { tools: TOOLS }
  if (method === 'tools/call') return call(params as Call)
  return method === 'ping' ? {} : undefined
}

/** Serves stdin until it ends. `call` may say more before it returns, or never return at all. */
export function serve(call: (call: Call) => object | undefined = plainCall): void {
  createInterface({ input: process.stdin }).on('line', (line) => {
    const message = JSON.parse(line) as Incoming
    if (message.id === undefined || message.method === undefined) return
    let silent = false
    const result = resultOf(message, (each) => {
      const answer = call(each)
      silent = answer === undefined
      return answer ?? {}
    })
    if (silent) return
    if (result !== undefined) say({ id: message.id, result })
    else say({ id: message.id, error: { code: -32601, message: 'no such method' } })
  })
}

export function plainCall(call: Call): object {
  return callTool(call, (n) => say({ method: 'notifications/message', params: note(n) }))
}

export function note(n: number): object {
  return { level: 'info', data: `note ${n}` }
}
