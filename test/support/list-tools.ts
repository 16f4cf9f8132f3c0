// The tools of a server as the exact text it writes, without any SDK on this side: through the
// gate, and from the server itself over stdio.

import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { splitElements, splitMembers } from '../../packages/protocol/src/json/raw-members.ts'
import { PlainClient } from './plain-client.ts'
import type { ServingGate } from './start-gate.ts'

export interface ServerCommand {
  readonly command: readonly string[]
  readonly env?: Record<string, string>
}

export async function listGated(gate: ServingGate, server: string): Promise<string[]> {
  const client = await PlainClient.open(gate, server)
  const { text } = await client.ask('tools/list')
  await client.end()
  const [data = text] = /(?<=^data: ).*"tools":.*$/m.exec(text) ?? []
  return parseDefinitions(data)
}

export async function listDirectly({ command, env }: ServerCommand): Promise<string[]> {
  const [program = '', ...args] = command
  const child = spawn(program, args, {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { ...process.env, ...env },
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const clientInfo = { name: 'plain', version: '1' }
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
  const say = (message: object) => child.stdin.write(`${JSON.stringify(message)}\n`)
  say({ jsonrpc: '2.0', id: 1, method: 'initialize', params })
  say({ jsonrpc: '2.0', method: 'notifications/initialized' })
  say({ jsonrpc: '2.0', id: 2, method: 'tools/list' })
  for (;;) {
    const { value = '', done } = await lines.next()
    if (done) throw new Error(`${command.join(' ')} ended before it listed its tools`)
    if (!value.includes('"tools":[')) continue
    child.stdin.end()
    child.kill()
    return parseDefinitions(value)
  }
}

function parseDefinitions(message: string): string[] {
  const result = splitMembers(message).get('result') ?? '{}'
  return [...splitElements(splitMembers(result).get('tools') ?? '[]')]
}
