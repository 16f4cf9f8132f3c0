// A server that lists whatever the file of argument 1 holds at that moment: for definitions that
// change behind the gate's back. Every tool answers with its name.

import { existsSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const file = process.argv[2] as string
const instructionsFile = `${file}.instructions`

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) return
  const result = answer(method, params)
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`)
})

function answer(method: string, params: { name?: string } | undefined): object {
  if (method === 'initialize')
    return {
      protocolVersion: '2025-11-25',
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: 'shifty', version: '1' },
      ...(existsSync(instructionsFile)
        ? { instructions: readFileSync(instructionsFile, 'utf8') }
        : {}),
    }
  if (method === 'tools/list') return { tools: JSON.parse(readFileSync(file, 'utf8')) }
  return { content: [{ type: 'text', text: `${params?.name}` }] }
}
