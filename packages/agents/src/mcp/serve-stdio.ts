// The agents' MCP server over stdio. A plain call of a quick tool, one line in a session that is open,
// is read, answered and written here; everything else goes to the SDK as it came, which owns the
// protocol. Both answer the same bytes. Called by `sluice agents serve`.

import { PassThrough, type Readable, type Writable } from 'node:stream'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import type { Service } from '../service/service.ts'
import {
  type AgentsCaller,
  createAgentsServer,
  createDirectCalls,
  type DirectToolCall,
  isQuick,
} from './server.ts'

type FastPathCall = NonNullable<ReturnType<typeof readPlain>>

const NEWLINE = 0x0a

export function serveAgentsOverStdio(
  service: Service,
  caller: AgentsCaller,
  version: string,
  [input, output]: readonly [Readable, Writable] = [process.stdin, process.stdout],
): { close(): Promise<void> } {
  /** What the SDK reads. */
  const rest = new PassThrough()
  const call = createDirectCalls(service, caller)
  let isOpen = false
  let isWithin = false
  const handle = serveStdio(
    ({ era }) => {
      const server = createAgentsServer(service, caller, version)
      if (era === 'legacy')
        server.server.oninitialized = () => {
          isOpen = true
        }
      return server
    },
    { transport: new StdioServerTransport(rest, output) },
  )
  input.on('data', (chunk: Buffer) => {
    const plain = isOpen && !isWithin && !output.writableNeedDrain ? readPlain(chunk) : undefined
    if (plain === undefined) {
      // A line that began there ends there.
      isWithin = chunk.at(-1) !== NEWLINE
      rest.write(chunk)
    } else void answer(plain, call, output)
  })
  input.on('end', () => rest.end())
  input.on('close', () => rest.destroy())
  return handle
}

/** Returns undefined unless the chunk is one whole request that says name and arguments and no more. */
function readPlain(chunk: Buffer) {
  if (chunk.indexOf(NEWLINE) !== chunk.length - 1) return undefined
  let message: unknown
  try {
    message = JSON.parse(chunk.toString('utf8'))
  } catch {
    return undefined
  }
  if (!hasOnly(message, ['jsonrpc', 'id', 'method', 'params'])) return undefined
  const { jsonrpc, id, method, params } = message
  if (jsonrpc !== '2.0' || method !== 'tools/call') return undefined
  if (typeof id !== 'string' && !Number.isSafeInteger(id)) return undefined
  if (!hasOnly(params, ['name', 'arguments'])) return undefined
  const { name, arguments: args } = params
  if (typeof name !== 'string' || !isQuick(name)) return undefined
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return undefined
  if (Object.hasOwn(args, '__proto__')) return undefined
  return { id: id as string | number, name, args }
}

function hasOnly(value: unknown, keys: readonly string[]): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  for (const key in value) if (!keys.includes(key)) return false
  return true
}

async function answer(
  { id, name, args }: FastPathCall,
  call: DirectToolCall,
  output: Writable,
): Promise<void> {
  const result = await call(name, args)
  output.write(`${JSON.stringify({ result, jsonrpc: '2.0', id })}\n`)
}
