import { expect, test } from 'vitest'
import { findId } from './find-id.ts'
import { FIND_ID_PARSED_LENGTH_MAX } from './json/limits.ts'
import { readMessages } from './read-message.ts'

const LONG = `"${'x'.repeat(FIND_ID_PARSED_LENGTH_MAX)}"`

test.each([
  [`{"jsonrpc":"2.0","id":7,"result":${LONG}`, { id: 7, isAnswer: true }],
  [` { "id" : "a-1" , "result":${LONG}}`, { id: 'a-1', isAnswer: true }],
  [`{"result":${LONG},"id":7}`, { id: 7, isAnswer: true }],
  [`{"id":7,"method":"ping","params":${LONG}}`, { id: 7, isAnswer: false }],
  [`{"result":{"a":${LONG},"id":7}}`, { id: null, isAnswer: false }],
  [`{"result":${LONG}}`, { id: null, isAnswer: false }],
  ['{"id":7,"result":', { id: null, isAnswer: false }],
  ['{"result":1,"id":7}', { id: 7, isAnswer: true }],
  ['[7]', { id: null, isAnswer: false }],
])('%.30s', (text, found) => {
  expect(findId(text)).toEqual(found)
})

test('F9: 990,000 argument keys are refused with their id and are never parsed', () => {
  const keys = Array.from({ length: 990_000 }, (_, at) => `"k${at}":1`).join(',')
  const text = `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"x","arguments":{${keys}}}}`
  const parse = JSON.parse
  let parsed = 0
  JSON.parse = (...given: Parameters<typeof parse>) => {
    parsed += given[0].length
    return parse(...given)
  }
  try {
    const reading = readMessages(text, { batches: false })
    expect(reading).toMatchObject({ ok: false, code: 'WIRE_SIZE', id: 3 })
    expect(reading.ok || reading.message).toContain('more than 50000 values and keys')
    expect(reading.ok || reading.offset).toBeLessThan(400_000)
  } finally {
    JSON.parse = parse
  }
  expect(parsed).toBe(0)
})
