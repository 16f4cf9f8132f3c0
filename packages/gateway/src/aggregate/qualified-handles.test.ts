// Handles with the server's name before them: what comes back is what was given out, whatever it was,
// and every other byte stays.

import { readMessages } from '@sluice/protocol/read-message'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  answerForServer,
  notificationForClient,
  paramsForServer,
  qualifyHandle,
  qualifyTaskId,
  requestForClient,
  resultForClient,
  unqualifyHandle,
  unqualifyTaskId,
} from './qualified-handles.ts'

const server = fc.stringMatching(/^[a-z0-9-]{1,24}$/)
const handle = fc.oneof(fc.string(), fc.maxSafeInteger())
const TASK = 'io.modelcontextprotocol/related-task'

// biome-ignore lint/suspicious/noExplicitAny: a message of either kind
function read(text: string): any {
  const reading = readMessages(text, { batches: false })
  if (!reading.ok) throw new Error(reading.message)
  return reading.messages[0]
}

describe('handles', () => {
  test('come back as they were, strings and numbers apart', () => {
    fc.assert(
      fc.property(server, handle, (name, given) => {
        const far = qualifyHandle(name, given)
        expect(unqualifyHandle(far)).toEqual({
          server: name,
          handle: Object.is(given, -0) ? 0 : given,
        })
        expect(unqualifyTaskId(qualifyTaskId(name, String(given)))).toEqual({
          server: name,
          taskId: String(given),
        })
      }),
    )
    expect(qualifyHandle('a', '1')).not.toBe(qualifyHandle('a', 1))
  })

  test.each(['', 'a', 'a:', 'a:{}', 'a:[1]', 'a:null', 'a:x', 5, null, {}])(
    'what was never given out is none: %j',
    (far) => expect(unqualifyHandle(far)).toBeUndefined(),
  )
})

describe('messages', () => {
  const meta = `{"x":1.0,"progressToken":7,"${TASK}":{"taskId":"t"}}`

  test('a request keeps every byte but its handles', () => {
    const request = read(
      `{"jsonrpc":"2.0","id":"sluice-1","method":"elicitation/create","params":{"a":1.50,"_meta":${meta}}}`,
    )
    expect(requestForClient('s', request)).toBe(
      `{"jsonrpc":"2.0","id":"s:\\"sluice-1\\"","method":"elicitation/create","params":{"a":1.50,` +
        `"_meta":{"x":1.0,"progressToken":"s:7","${TASK}":{"taskId":"s:t"}}}}`,
    )
  })

  test.each([
    ['cancelled', '{"requestId":"sluice-1"}', '{"requestId":"s:\\"sluice-1\\""}'],
    ['tasks/status', '{"taskId":"t","n":1.0}', '{"taskId":"s:t","n":1.0}'],
    ['message', '{"data":{"taskId":"t"}}', '{"data":{"taskId":"t"}}'],
    ['progress', '{"progressToken":1,"progress":1.0}', '{"progressToken":1,"progress":1.0}'],
  ])('a notification: %s', (name, params, far) => {
    const head = `{"jsonrpc":"2.0","method":"notifications/${name}","params":`
    expect(notificationForClient('s', read(`${head}${params}}`))).toBe(`${head}${far}}`)
  })

  test.each([
    ['tools/call', '{"task":{"taskId":"t","n":1.0}}', '{"task":{"taskId":"s:t","n":1.0}}'],
    ['tools/call', '{"structuredContent":{"taskId":"t"}}', '{"structuredContent":{"taskId":"t"}}'],
    ['tools/call', '{"content":[],"taskId":"t"}', '{"content":[],"taskId":"t"}'],
    ['tasks/get', '{"taskId":"t"}', '{"taskId":"s:t"}'],
    ['tasks/cancel', '{"taskId":5}', '{"taskId":"s:5"}'],
    [
      'tasks/result',
      `{"_meta":{"${TASK}":{"taskId":"t"}}}`,
      `{"_meta":{"${TASK}":{"taskId":"s:t"}}}`,
    ],
    ['tasks/result', '"taskId"', '"taskId"'],
  ])('a result of %s: %s', (method, result, far) =>
    expect(resultForClient('s', method, result, 'session')).toBe(far),
  )

  test('what a client sends goes back under the names that the server knows', () => {
    const far = `{"${TASK}":{"taskId":"s:t"},"n":1.0}`
    const { params } = read(`{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":${far}}}`)
    expect(paramsForServer('s', params).text.get('_meta')).toBe(
      `{"${TASK}":{"taskId":"t"},"n":1.0}`,
    )
    expect(paramsForServer('other', params).text.get('_meta')).toBe(far)
    const answer = read(`{"jsonrpc":"2.0","id":"s:1","result":{"_meta":${far}}}`)
    expect(answerForServer('s', 1, answer)).toMatchObject({
      id: 1,
      result: `{"_meta":{"${TASK}":{"taskId":"t"},"n":1.0}}`,
    })
  })
})
