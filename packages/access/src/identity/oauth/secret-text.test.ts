// References to files: read when they are used, and only what can be a secret.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fileScratchDirectory } from '../../../../../test/support/scratch.ts'
import { SECRET_BYTES_MAX, SECRET_FRESH_MS } from '../limits.ts'
import { SecretError, SecretText } from './secret-text.ts'

const folder = fileScratchDirectory()

const fileOf = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}

test('a changed file is read after half a second, without its last line break', () => {
  const file = fileOf('key', 'one\n')
  const secret = new SecretText(['Bearer ', { file }])
  expect(secret.read(0)).toBe('Bearer one')
  writeFileSync(file, 'two\r\n')
  expect(secret.read(SECRET_FRESH_MS - 1)).toBe('Bearer one')
  expect(secret.read(SECRET_FRESH_MS)).toBe('Bearer two')
})

test('what a file holds is never a reference', () => {
  const file = fileOf('nested', `$\{file:${fileOf('other', 'private')}}`)
  expect(new SecretText([{ file }]).read(0)).toContain('file:')
})

test.each([
  ['it is not there', () => join(folder, 'missing')],
  ['it is not a regular file', () => folder],
  [`it has more than ${SECRET_BYTES_MAX} bytes`, () => fileOf('big', 'x'.repeat(65_537))],
  ['it is not a regular file', () => '/dev/null'],
])('%s', (why, make) => {
  const file = make()
  const read = () => new SecretText([{ file }]).read(0)
  expect(read).toThrow(SecretError)
  expect(read).toThrow(`the secret \`$\{file:${file}}\` cannot be read: ${why}`)
})
