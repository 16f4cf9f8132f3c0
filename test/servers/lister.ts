// A server that notes every `tools/list` it gets, a line each, in the file of argument 1. `add_tool` adds a tool
// and says so; `add_silently` does not say so.

import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { resultOf, say, textResult } from './speak.ts'

const log = process.argv[2] as string
const names = ['add_tool', 'add_silently', 'read_weather']

createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line)
  const { id, method, params } = message
  if (id === undefined) return
  if (method === 'tools/list') appendFileSync(log, `${method}\n`)
  if (params?.name === 'add_tool' || params?.name === 'add_silently') names.push('read_tides')
  const result =
    method === 'tools/list'
      ? { tools: names.map((name) => ({ name, inputSchema: { type: 'object' } })) }
      : resultOf(message, () => textResult('done'))
  say({ id, result: result ?? {} })
  if (params?.name === 'add_tool') say({ method: 'notifications/tools/list_changed' })
})
