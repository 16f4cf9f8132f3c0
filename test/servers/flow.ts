// A server with agents of its own, as Claude Flow has: `wasm_agent_list` and `memory_store` over one JSON file
// (argument 1). What it answers shows that it was reached.

import { type ServedTool, serveTools, TEXT } from './serve-tools.ts'

interface Flow {
  stored: string[]
}

const TOOLS: readonly ServedTool<Flow>[] = [
  {
    name: 'wasm_agent_list',
    description: 'List agents.',
    properties: {},
    readOnly: true,
    run: () => 'the agents of the server',
  },
  {
    name: 'memory_store',
    description: 'Store a value in memory.',
    properties: { value: TEXT },
    run: ({ stored }, { value }) => `stored ${stored.push(String(value))}`,
  },
]

serveTools(process.argv[2] ?? '', TOOLS)
