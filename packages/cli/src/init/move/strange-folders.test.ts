// A project's folder may be a stranger's: what lies in it steers no write of ours elsewhere.

import { chmodSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratchDirectory } from '../../../../../test/support/scratch.ts'
import { changeFile } from '../files/change-file.ts'
import { undoMoves } from './move-entries.ts'
import { type MovedEntry, readMoved, writeRecord } from './move-log.ts'

const isPosix = process.platform !== 'win32'

test.runIf(isPosix)('links laid where a file is written beside another lead nowhere', async () => {
  const folder = scratchDirectory()
  const file = join(folder, '.mcp.json')
  const victim = join(folder, 'bashrc')
  writeFileSync(victim, 'mine')
  writeFileSync(file, '{}')
  symlinkSync(victim, join(folder, `.${'.mcp.json'}.sluice-${process.pid}`))
  symlinkSync(victim, join(folder, 'sluice.moved.json.new'))
  expect(await changeFile(file, () => '{"a":1}')).toBe(true)
  expect(readFileSync(file, 'utf8')).toBe('{"a":1}')
  const moved = { client: 'cursor', file, format: 'json', path: ['a'], server: 'a' } as const
  writeRecord(join(folder, 'sluice.moved.json'), [
    { ...moved, before: '', after: '', was: {}, now: {} },
  ])
  expect(readFileSync(victim, 'utf8')).toBe('mine')
})

test.runIf(isPosix)('a record that came with a checkout takes nothing back', async () => {
  const folder = scratchDirectory()
  const record = join(folder, 'sluice.moved.json')
  const file = join(folder, 'claude.json')
  const now = { command: 'npx', args: ['memory'] }
  const text = JSON.stringify({ mcpServers: { memory: now } })
  writeFileSync(file, text)
  const evil = { command: 'sh', args: ['-c', 'evil'] }
  writeRecord(record, [
    {
      client: 'claude-code',
      file,
      format: 'json',
      path: ['mcpServers', 'memory'],
      server: 'memory',
      before: '',
      after: '',
      was: evil,
      now,
    },
  ])
  chmodSync(record, 0o644)
  await expect(undoMoves(record)).rejects.toThrow(/others may read it/)
  expect(readFileSync(file, 'utf8')).toBe(text)
  chmodSync(record, 0o600)
  expect(readMoved(record)).toHaveLength(1)
})

test('M9: a record that another user wrote is not believed, whatever its mode', async () => {
  const folder = scratchDirectory()
  const record = join(folder, 'sluice.moved.json')
  const file = join(folder, 'claude.json')
  const now = { command: 'sluice', args: ['stdio', 'notes'] }
  const text = JSON.stringify({ mcpServers: { notes: now } })
  writeFileSync(file, text)
  const moved: MovedEntry = {
    client: 'claude-code',
    file,
    format: 'json',
    path: ['mcpServers', 'notes'],
    server: 'notes',
    before: '',
    after: '',
    was: { command: 'sh' },
    now,
  }
  const own = process.env.XDG_STATE_HOME
  process.env.XDG_STATE_HOME = join(folder, 'of another')
  writeRecord(record, [moved])
  process.env.XDG_STATE_HOME = own
  await expect(undoMoves(record)).rejects.toThrow(/was not written by `sluice init` of this user/)
  for (const mac of [undefined, '', 0, 'f'.repeat(64), ['x']]) {
    writeFileSync(record, JSON.stringify({ version: 1, moved: [moved], mac }), { mode: 0o600 })
    await expect(undoMoves(record)).rejects.toThrow(/was not written by `sluice init` of this user/)
  }
  expect(readFileSync(file, 'utf8')).toBe(text)
  // One's own that was changed since.
  writeRecord(record, [moved])
  writeFileSync(record, readFileSync(record, 'utf8').replace('"sh"', '"ssh"'))
  expect(() => readMoved(record)).toThrow(/was not written by/)
})

test('a client that is no client but a name of every object is none', () => {
  const record = join(scratchDirectory(), 'sluice.moved.json')
  const rest = { file: 'x', format: 'json', path: ['a'], server: 'a', before: '', after: '' }
  const moved = [{ client: 'toString', ...rest, was: {}, now: {} }]
  writeFileSync(record, JSON.stringify({ version: 1, moved }), { mode: 0o600 })
  expect(() => readMoved(record)).toThrow(/damaged/)
})

test('a file that cannot be read is left, and the other clients get theirs back', async () => {
  const folder = scratchDirectory()
  const record = join(folder, 'sluice.moved.json')
  const now = { command: 'sluice', args: ['stdio', '--server', 'memory'] }
  const was = { command: 'npx', args: ['memory'] }
  const entries = ['broken.json', 'good.json'].map((name) => ({
    client: 'cursor' as const,
    file: join(folder, name),
    format: 'json' as const,
    path: ['mcpServers', 'memory'],
    server: 'memory',
    before: '',
    after: '',
    was,
    now,
  }))
  writeFileSync(join(folder, 'broken.json'), '{ "mcpServers": ')
  writeFileSync(join(folder, 'good.json'), JSON.stringify({ mcpServers: { memory: now } }))
  writeRecord(record, entries)
  const undone = await undoMoves(record)
  expect(undone.map(({ fate }) => fate)).toEqual(['left', 'restored'])
  expect(undone[0]?.because).toContain('broken.json')
  expect(JSON.parse(readFileSync(join(folder, 'good.json'), 'utf8'))).toEqual({
    mcpServers: { memory: was },
  })
  // What was left is not forgotten.
  expect(readMoved(record).map(({ file }) => file)).toEqual([join(folder, 'broken.json')])
})
