// What a person reads of a shell command before approving it.

import { expect, test } from 'vitest'
import { describeCommand } from './command-line.ts'

const touches = (command: string) =>
  describeCommand('Bash', JSON.stringify({ command, cwd: '/srv' }))?.touches

test('the line, the directory, and what it would touch', () => {
  expect(describeCommand('Bash', '{"command":"rm -rf build","cwd":"/srv/app"}')).toEqual({
    line: 'rm -rf build',
    directory: '/srv/app',
    touches: expect.stringContaining('starts rm'),
  })
  expect(touches('echo a > out.txt')).toContain('writes out.txt')
  expect(touches('curl https://example.com/x')).toContain('reaches example.com')
  expect(touches('ls')).toBe('only reads')
  expect(touches('eval "$X"')).toContain('not certain')
})

test('no other call has one', () => {
  expect(describeCommand('Read', '{"command":"ls"}')).toBeUndefined()
  expect(describeCommand('Bash', '{"command":7}')).toBeUndefined()
  expect(describeCommand('Bash', '')).toBeUndefined()
})
