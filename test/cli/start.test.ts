// `npm start` as a newcomer has it: the demonstration serves, a real client uses it, and Ctrl-C
// leaves nothing behind.

import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { throughGate } from '../support/real-client.ts'
import { ROOT } from '../support/rooms.ts'
import { NODE, RunningGate } from '../support/start-gate.ts'

test('npm start', async () => {
  const child = spawn(NODE, [join(ROOT, 'scripts', 'start.ts'), '--port', '0'])
  const gate = new RunningGate('', child)
  let output = ''
  try {
    await new Promise<void>((resolve) => {
      child.stdout.on('data', (chunk: Buffer) => {
        output += chunk.toString()
        gate.url = /^sluice ready (\S+)$/m.exec(output)?.[1] ?? ''
        if (gate.url !== '') resolve()
      })
    })
    const [path = ''] = /\/\S+hello\.txt/.exec(output) ?? []
    const { client, close } = await throughGate(gate, 'filesystem')
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).not.toContain('directory_tree')
    const read = await client.callTool({ name: 'read_text_file', arguments: { path } })
    expect(JSON.stringify(read.content)).toContain('read through the gate')
    const args = { source: path, destination: `${path}.2` }
    const moved = await client.callTool({ name: 'move_file', arguments: args })
    expect(JSON.stringify(moved.content)).toContain('files stay where they are')
    const results: unknown[] = []
    for (let time = 0; time < 4; time++)
      results.push(
        (await client.callTool({ name: 'write_file', arguments: { path, content: 'x' } })).isError,
      )
    expect(results).toEqual([undefined, undefined, undefined, true])
    await close()
    // What it says to paste.
    expect(output).toMatch(/"url": "http:\/\/127\.0\.0\.1:\d+\/mcp" /)
    const all = await throughGate(gate, '')
    const { tools: both } = await all.client.listTools()
    expect(both.map(({ name }) => name)).toContain('memory__read_graph')
    expect(both.map(({ name }) => name)).toContain('filesystem__read_text_file')
    expect(both.map(({ name }) => name)).not.toContain('filesystem__directory_tree')
    await all.close()
    child.kill('SIGINT')
    expect(await gate.exited).toBe(0)
    expect(existsSync(path)).toBe(false)
  } finally {
    child.kill('SIGKILL')
  }
})
