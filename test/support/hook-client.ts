// A client with hooks, in a process of its own: hands the user's prompt over by its hook, then makes calls by
// `sluice stdio` and prints what they answer. The argument says which, as JSON; `done` is made at the end.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { NODE, SLUICE } from './start-gate.ts'

const { url, folder, done, token, prompt, calls } = JSON.parse(process.argv[2] ?? '{}')
process.once('exit', () => done && writeFileSync(done, ''))
/** One pipe for each server that is called. */
const pipes = new Map<string, Client>()
for (const { server } of calls) {
  if (pipes.has(server)) continue
  const pipe = new Client({ name: 'hook-client', version: '1' })
  const args = [SLUICE, 'stdio', '--config', join(folder, 'sluice.yaml'), '--server', server]
  await pipe.connect(new StdioClientTransport({ command: NODE, args }))
  pipes.set(server, pipe)
}
const response = await fetch(`${url}/hooks/claude-code`, {
  method: 'POST',
  headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
  body: JSON.stringify({
    hook_event_name: 'UserPromptSubmit',
    session_id: String(process.pid),
    cwd: folder,
    prompt,
  }),
})
if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
// A call that is refused is no fault of the client's.
for (const { server, ...call } of calls)
  await pipes
    .get(server)
    ?.callTool(call)
    .then((result) => console.log(JSON.stringify(result)))
    .catch(() => {})
for (const pipe of pipes.values()) await pipe.close()
