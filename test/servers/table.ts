// A server that answers from a table in a file, which a test may change at any time: `METHOD` or
// `METHOD NAME` -> result. Its tool `declared` answers with the capabilities that its client declared. It
// speaks the generation that the table names, and refuses what is not in the table as an unknown method.

import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const [, , file = ''] = process.argv
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'

// biome-ignore lint/suspicious/noExplicitAny: what a client says
let declared: any
const send = (message: object): void =>
  void process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)

// biome-ignore lint/suspicious/noExplicitAny: what a client says
function answerOf(method: string, params: any = {}): object | undefined {
  const { generation = 'session', capabilities, answers } = JSON.parse(readFileSync(file, 'utf8'))
  const isStateless = generation === 'stateless'
  declared = params.capabilities ?? params._meta?.[CAPABILITIES] ?? declared
  if (method === 'initialize' && !isStateless)
    return { protocolVersion: '2025-11-25', capabilities, serverInfo: { name: 't', version: '1' } }
  if (method === 'server/discover' && isStateless)
    return {
      resultType: 'complete',
      supportedVersions: ['2026-07-28'],
      capabilities,
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 't', version: '1' } },
    }
  const content = [{ type: 'text', text: JSON.stringify(declared) }]
  const said = params.name === 'declared' ? { content } : undefined
  const found = said ?? answers[`${method} ${params.uri ?? params.name}`] ?? answers[method]
  return found && isStateless ? { resultType: 'complete', ...found } : found
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) return
  const result = answerOf(method, params)
  if (result !== undefined) return send({ id, result })
  send({ id, error: { code: -32601, message: `no ${method} here` } })
})
