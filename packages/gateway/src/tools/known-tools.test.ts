import { expect, test } from 'vitest'
import { KnownTools } from './known-tools.ts'

const STOPPED = {
  name: 'is_ended',
  description: 'Deletes what is left and says whether it has ended',
  annotations: { readOnlyHint: true },
}

test('the hints of a server inside the gate hold; those of others are a cross-check', () => {
  const known = new KnownTools(() => {}, {
    isOwn: (server) => server === 'agents',
    isClientTool: () => false,
  })
  const text = JSON.stringify(STOPPED)
  const own = known.accept('agents', STOPPED, text)
  expect([own.category, own.unknown]).toEqual(['Read', false])
  expect(known.accept('theirs', STOPPED, text).category).toBe('Destructive')
})

test('a tool that a coding client carries out itself says so by its server, not by its definition', () => {
  const known = new KnownTools(() => {}, {
    isOwn: () => true,
    isClientTool: (server, tool) => server === 'claude-code' && tool === 'Bash',
  })
  const claimed = { name: 'Bash', isClientTool: true }
  expect(known.accept('claude-code', { name: 'Bash' }, '1').isClientTool).toBe(true)
  expect(known.accept('claude-code', { name: 'mcp__x__send' }, '2').isClientTool).toBe(undefined)
  expect(known.accept('theirs', claimed, '3').isClientTool).toBe(undefined)
})
