// `npm start`: the gate on a demonstration of two published MCP servers, with what to paste and
// what to try. Everything it writes is in a temporary folder that is removed when it stops.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { main } from '../packages/cli/src/main.ts'
import { ensureConsole } from './build-console.ts'
import { ROOT } from './run-step.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-demo-'))
const workspace = join(folder, 'workspace')
mkdirSync(workspace)
writeFileSync(join(workspace, 'hello.txt'), 'This file is read through the gate.\n')
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

process.env.SLUICE_DEMO = folder
process.env.SLUICE_DEMO_NODE = process.execPath
process.env.SLUICE_DEMO_MODULES = join(ROOT, 'node_modules', '@modelcontextprotocol')

const data = join(folder, 'data')
const port = process.argv.join(' ').match(/--port[ =](\d+)/)?.[1]
const url = `http://127.0.0.1:${port ?? 7433}`
const config = join(ROOT, 'examples', 'demo', 'sluice.yaml')
await ensureConsole()
console.log(`Two MCP servers are behind the gate: filesystem (in ${workspace}) and memory.
Point an MCP client at ${url}/mcp for both (with tools called filesystem__read_text_file
and so on), or at ${url}/mcp/filesystem or .../mcp/memory for one, for example:

  claude mcp add --transport http sluice ${url}/mcp

  { "mcpServers": { "sluice": { "type": "http", "url": "${url}/mcp" } } }

  { "mcpServers": {
      "files":  { "type": "http", "url": "${url}/mcp/filesystem" },
      "memory": { "type": "http", "url": "${url}/mcp/memory" } } }

What to try, with examples/demo/policy.yaml beside you:
  read_text_file ${join(workspace, 'hello.txt')}   allowed: it reads
  write_file, four times within a minute   the fourth is limited, and says when to try again
  move_file                                denied, with the reason
  directory_tree                           hidden: not in the list, and unknown if called
  delete_entities (of memory)              held: it waits for approval

  npx sluice demo                          plays these five

Approve calls and see what happened, in another terminal:
  npx sluice approvers pin --data ${data}   set your PIN, once
  npx sluice console --data ${data}         the web console, signed in
  npx sluice approvals watch --data ${data} calls waiting for approval
  npx sluice ledger tail --data ${data}     what happened

Ctrl-C stops it.
`)
process.exitCode = await main(['up', '--no-pin', '--config', config, ...process.argv.slice(2)])
