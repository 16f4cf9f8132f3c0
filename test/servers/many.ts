// A server with as many tools as it is told to have, on one page: what the first list of a large
// server costs whoever else uses the gate.

import { createInterface } from 'node:readline'
import { resultOf, say, textResult } from './speak.ts'

const tools = Array.from({ length: Number(process.argv[2]) }, (_, at) => ({
  name: `tool_${at}`,
  description: `Reads item ${at} of the store and returns it as text.`,
  inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
}))

createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line) as { id?: number; method?: string }
  if (message.id === undefined) return
  const result =
    message.method === 'tools/list' ? { tools } : resultOf(message, () => textResult(''))
  say({ id: message.id, result: result ?? {} })
})
