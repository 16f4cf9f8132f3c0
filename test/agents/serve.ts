// `sluice agents serve` as a client starts it: a process over stdio, with a data directory of its
// own. Whoever starts it closes it, or kills it.

import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { SLUICE } from '../support/start-gate.ts'

export interface Served {
  readonly client: Client
  /** What a tool answers; fails the test where it is an error. */
  call(name: string, args?: object): Promise<Record<string, unknown>>
  /** What a tool says where it fails. */
  refusal(name: string, args?: object): Promise<{ error: string; code: string }>
  kill(): Promise<void>
  close(): Promise<void>
}

export async function serve(data: string, options: readonly string[] = []): Promise<Served> {
  const client = new Client({ name: 'test', version: '1' })
  const args = [SLUICE, 'agents', 'serve', '--data', data, ...options]
  const transport = new StdioClientTransport({ command: process.execPath, args, stderr: 'inherit' })
  await client.connect(transport)
  const ask = async (name: string, given: object = {}) => {
    const result = await client.callTool({ name, arguments: given as Record<string, unknown> })
    const [content] = result.content as { type: string; text: string }[]
    const answer = JSON.parse(content?.text ?? 'null') as Record<string, unknown>
    return { answer, result }
  }
  return {
    client,
    call: async (name, given) => {
      const { answer, result } = await ask(name, given)
      if (result.isError) throw new Error(`${name}: ${JSON.stringify(answer)}`)
      const { result: _, ...shown } = result.structuredContent as Record<string, unknown>
      const whole = name === 'wasm_agent_tool' ? shown : result.structuredContent
      if (JSON.stringify(whole) !== JSON.stringify(answer))
        throw new Error(`${name}: text and structured content differ`)
      return answer
    },
    refusal: async (name, given) => {
      const { answer, result } = await ask(name, given)
      if (!result.isError) throw new Error(`${name} was not refused: ${JSON.stringify(answer)}`)
      return answer as { error: string; code: string }
    },
    kill: async () => {
      const gone = new Promise<void>((resolve) => {
        client.onclose = () => resolve()
      })
      if (transport.pid !== null) process.kill(transport.pid, 'SIGKILL')
      await gone
    },
    close: () => client.close(),
  }
}
