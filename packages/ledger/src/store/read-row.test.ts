import { expect, test } from 'vitest'
import {
  BYTES,
  column,
  createRowReader,
  DIGITS,
  FLAG,
  json,
  LATIN1,
  NUMBER,
  nullable,
  oneOf,
  TEXT,
  TEXTS,
  withDefault,
} from './read-row.ts'

interface Tool {
  readonly name: string
  readonly atMs: number
  readonly note: string | null
}

const readTool = createRowReader<Tool>({
  name: TEXT,
  atMs: column('at', NUMBER),
  note: nullable(TEXT),
})

test('a row is read by its columns, and columns of no member are left out', () => {
  const row = { name: 'pay', at: 7, note: null, other: 1 }
  expect(readTool(row)).toEqual({ name: 'pay', atMs: 7, note: null })
})

test('a column that is missing or of another type is an error that names it', () => {
  expect(() => readTool({ name: 'pay', note: null })).toThrow(
    'the column `at` of a row is not a number',
  )
  expect(() => readTool({ name: 1, at: 7, note: null })).toThrow('`name` of a row is not a text')
  expect(() => readTool({ name: 'pay', at: 7 })).toThrow('`note` of a row is not a text')
})

test('the caller says what such an error is', () => {
  const readOwn = createRowReader<{ name: string }>({ name: TEXT }, (why) => new RangeError(why))
  expect(() => readOwn({})).toThrow(RangeError)
})

test('each kind of column takes what SQLite and PostgreSQL return for it', () => {
  const digits = '9007199254740993'
  expect([NUMBER.read(1.5), NUMBER.read(2n), NUMBER.read('3')]).toEqual([1.5, 2, 3])
  expect([DIGITS.read(digits), DIGITS.read(7), DIGITS.read(8n)]).toEqual([digits, '7', '8'])
  expect([FLAG.read(1), FLAG.read(true), FLAG.read(0), FLAG.read(null)]).toEqual([
    true,
    true,
    false,
    false,
  ])
  expect(BYTES.read(Buffer.from('a'))).toEqual(Buffer.from('a'))
  expect(LATIN1.read(Uint8Array.from([0, 255]))).toBe('\u0000ÿ')
  expect(TEXTS.read(['a', 'b'])).toEqual(['a', 'b'])
  expect(json<{ a: number }>().read('{"a":1}')).toEqual({ a: 1 })
  expect(oneOf(['idle', 'running']).read('idle')).toBe('idle')
  expect(withDefault(TEXTS, []).read(null)).toEqual([])
})

test.each([
  ['a number', NUMBER, null],
  ['a number', NUMBER, ''],
  ['an integer', DIGITS, '1.5'],
  ['bytes', BYTES, 'a'],
  ['texts', TEXTS, ['a', 1]],
  ['JSON', json(), '{'],
  ['one of idle', oneOf(['idle']), 'gone'],
])('what is not %s is refused', (form, { read }, value) => {
  expect(() => read(value)).toThrow(form)
})
