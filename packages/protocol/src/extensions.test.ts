// What either side may declare to the other through the gate.

import { expect, test } from 'vitest'
import { cutClientExtensions, cutExtensions, isServedExtension } from './extensions.ts'
import type { JsonRpcRequest } from './message.ts'
import { readMessages } from './read-message.ts'
import { writeMembers } from './write-message.ts'

const TASKS = '"io.modelcontextprotocol/tasks":{}'
const OTHER = '"com.example/x":{"a":1.0}'

const declaring = (extensions: string) => `{"tools":{"n":1.0}${extensions}}`

test('an extension whose methods the gate does not serve is cut whole', () => {
  const both = declaring(`,"extensions":{${TASKS},${OTHER}}`)
  expect(cutExtensions(both, isServedExtension)).toEqual({
    capabilities: declaring(`,"extensions":{${TASKS}}`),
    cut: ['com.example/x'],
  })
  const only = declaring(`,"extensions":{${OTHER}}`)
  expect(cutExtensions(only, isServedExtension).capabilities).toBe(declaring(''))
  expect(cutExtensions(both, () => true)).toEqual({ capabilities: both, cut: [] })
})

test.each(['{}', declaring(''), declaring(`,"extensions":{${TASKS}}`)])(
  'what has no other extension is left as it is: %s',
  (capabilities) => {
    expect(cutExtensions(capabilities, isServedExtension)).toEqual({ capabilities, cut: [] })
  },
)

function request(method: string, params: string): JsonRpcRequest {
  const text = `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`
  const read = readMessages(text, { batches: false })
  if (!read.ok) throw new Error(read.message)
  return read.messages[0] as JsonRpcRequest
}

const VERSION = '"io.modelcontextprotocol/protocolVersion":"2026-07-28"'
const inMeta = (capabilities: string) =>
  `{"_meta":{${VERSION},"io.modelcontextprotocol/clientCapabilities":${capabilities}},"name":"t"}`

test.each([
  ['initialize', (capabilities: string) => `{"capabilities":${capabilities}}`],
  ['tools/call', inMeta],
])('a server is not told of them in `%s` either', (method, params) => {
  const sent = request(method, params(declaring(`,"extensions":{${OTHER},${TASKS}}`)))
  const cut = cutClientExtensions(sent, isServedExtension)
  expect(writeMembers(cut.params?.text ?? new Map())).toBe(
    params(declaring(`,"extensions":{${TASKS}}`)),
  )
  const plain = request(method, params(declaring(`,"extensions":{${TASKS}}`)))
  expect(cutClientExtensions(plain, isServedExtension)).toBe(plain)
})
