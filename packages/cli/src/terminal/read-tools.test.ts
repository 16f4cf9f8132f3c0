import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readTools } from './read-tools.ts'

test('the tools that a coding client carries out itself are those of a built-in server, by name', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-tools-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'tools.json')
  const tools = [
    { server: 'claude-code', name: 'Bash' },
    { server: 'claude-code', name: 'mcp__mail__send' },
    { server: 'theirs', name: 'Bash', isClientTool: true },
  ]
  writeFileSync(file, JSON.stringify({ tools, builtin: ['claude-code'] }))
  const read = await readTools(file)
  expect(read.map(({ isClientTool = false }) => isClientTool)).toEqual([true, false, false])
})
