// The last words of `sluice init` about servers that need more than being moved.

import { expect, test } from 'vitest'
import { Output } from '../terminal/output.ts'
import { type ClosingReport, showClosing } from './closing.ts'

test.each([
  [['npx', 'claude-flow@alpha', 'mcp', 'start'], true],
  [['node', '/opt/node_modules/claude-flow/bin/cli.js', 'mcp', 'start'], true],
  [['npx', 'my-claude-flow-notes'], false],
])('%j is offered the built-in agents: %s', (command, isOffered) => {
  const lines: string[] = []
  const output = new Output({})
  output.line = (text = '') => void lines.push(text)
  const server = { kind: 'stdio', command: command.map((part) => [part]), env: {}, cwd: '/' }
  const from = { client: 'claude-code', file: 'a.json', scope: 'user' }
  const found = [{ from, entry: { name: 'flow', path: ['flow'] }, reading: { server } }]
  const moved = [{ file: 'a.json', path: ['flow'], client: 'claude-code' }]
  const report = {
    found,
    named: [],
    held: [],
    moved,
    left: [],
    isObserved: false,
    isUrl: false,
    canApprove: true,
  }
  showClosing({ ...report, option: '' } as unknown as ClosingReport, output)
  expect(lines.join('\n').includes('`builtin: agents`')).toBe(isOffered)
})
