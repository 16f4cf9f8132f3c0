// What a server may declare to a client behind the gate.

import { expect, test } from 'vitest'
import { cutExtensions } from './extensions.ts'

const TASKS = '"io.modelcontextprotocol/tasks":{}'
const SKILLS = '"io.modelcontextprotocol/skills":{"directoryRead":true}'

test('an extension whose methods the gate does not serve is cut whole', () => {
  const hello = (extensions: string) =>
    `{"protocolVersion":"x","capabilities":{"tools":{"n":1.0}${extensions}},"serverInfo":{}}`
  expect(cutExtensions(hello(`,"extensions":{${TASKS},${SKILLS},"com.example/x":{}}`))).toEqual({
    result: hello(`,"extensions":{${TASKS}}`),
    cut: ['io.modelcontextprotocol/skills', 'com.example/x'],
  })
  expect(cutExtensions(hello(`,"extensions":{${SKILLS}}`)).result).toBe(hello(''))
})

test.each(['{}', '{"capabilities":{}}', `{"capabilities":{"extensions":{${TASKS}}}}`])(
  'what has no other extension is left as it is: %s',
  (hello) => {
    expect(cutExtensions(hello)).toEqual({ result: hello, cut: [] })
  },
)
