// The file of keys beside sluice.yaml: what is written is what is read, whatever the value; a mistake
// has its line and does not quote what may be a secret; a file that others may read is refused.

import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sluice } from '../../../../test/support/run-sluice.ts'
import { scratchDirectory } from '../../../../test/support/scratch.ts'
import { readKeys, writeKeys } from './keys.ts'

const read = (text: string) => readKeys({ file: 'sluice.env', text })

test('names and values, comments and quotes', () => {
  const text = '\uFEFF# mine\r\nA=one two \r\nexport B="x\\ny"\n\n C = z\nD=\n'
  expect([...read(text).keys]).toEqual([
    ['A', 'one two '],
    ['B', 'x\ny'],
    ['C', ' z'],
    ['D', ''],
  ])
})

test('a mistake has its line, and the value is not told', () => {
  const { problems } = read('A=1\nhush-hush\nA=2\nB="open\n1X=hush\n')
  expect(problems.map(({ line, message }) => `${line}: ${message}`)).toEqual([
    '2: this line is not of the form `NAME=value`',
    '3: `A` stands there twice',
    '4: the quotes of `B` do not match',
    '5: this line is not of the form `NAME=value`',
  ])
  expect(JSON.stringify(problems)).not.toContain('hush')
})

test('what is written is what is read, and other lines stay', () => {
  const names = fc.constantFrom('A', 'B_2', 'c')
  const keys = fc.dictionary(names, fc.string({ unit: 'binary' }))
  fc.assert(
    fc.property(keys, keys, (first, second) => {
      const once = writeKeys('# mine\nZ=kept\n', new Map(Object.entries(first)))
      const text = writeKeys(once, new Map(Object.entries(second)))
      expect(text.startsWith('# mine\nZ=kept\n')).toBe(true)
      const { keys: found, problems } = read(text)
      expect(problems).toEqual([])
      expect(Object.fromEntries(found)).toEqual({ Z: 'kept', ...first, ...second })
    }),
  )
})

test('a file of keys that others may read is refused', async () => {
  const folder = scratchDirectory()
  const config = join(folder, 'sluice.yaml')
  const variable = `\${A_KEY_OF_THE_TEST}`
  writeFileSync(config, `version: 1\nservers: { x: { url: "https://x.example/${variable}" } }\n`)
  const missing = await sluice(['scan', '--config', config])
  expect(missing.stderr).toContain('the environment has no `A_KEY_OF_THE_TEST`')
  const file = join(folder, 'sluice.env')
  writeFileSync(file, 'A_KEY_OF_THE_TEST=k\n', { mode: 0o600 })
  chmodSync(file, 0o640)
  expect((await sluice(['scan', '--config', config])).stderr).toContain('can be read by others')
  chmodSync(file, 0o600)
  writeFileSync(file, 'A_KEY_OF_THE_TEST\n')
  const broken = await sluice(['scan', '--config', config])
  expect(broken.stderr).toContain('sluice.env:1:1')
})
