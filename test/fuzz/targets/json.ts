// The strict JSON reader: what it accepts, JSON.parse accepts with the same value, and writing the value
// and reading it again gives it back. Messages that are not JSON-RPC are refused, never thrown.

import { ExactNumber, type JsonValue } from '@sluice/policy/values/json'
import { readJson } from '../../../packages/protocol/src/json/read-json.ts'
import { writeJson } from '../../../packages/protocol/src/json/write-json.ts'
import { readMessages } from '../../../packages/protocol/src/read-message.ts'

export const seeds = [
  '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pay","arguments":{"amount":1.5}}}',
  '[1,-0,1e3,9007199254740993,"\\u00e9\\ud83d\\ude00\\n",true,false,null,{"a":{"b":[]}}]',
  '{"jsonrpc":"2.0","id":"x","error":{"code":-32600,"message":"no"}}',
]

export function run(input: Buffer): void {
  const text = input.toString('utf8')
  const ours = readJson(text)
  if (ours.ok) {
    expectSame(ours.value, JSON.parse(text))
    const again = readJson(writeJson(ours.value))
    if (!again.ok) throw new Error(`what was written is refused: ${again.message}`)
    expectSame(again.value, JSON.parse(text))
  } else if (ours.offset < 0 || ours.offset > text.length)
    throw new Error(`the offset ${ours.offset} is not in the text`)
  readMessages(text, { batches: true })
}

function expectSame(ours: JsonValue, theirs: unknown): void {
  if (ours instanceof ExactNumber) {
    if (Number(ours.text) !== theirs) throw new Error(`${ours.text} is read as ${theirs}`)
  } else if (Array.isArray(ours) && Array.isArray(theirs)) {
    if (ours.length !== theirs.length) throw new Error('arrays differ')
    for (const [at, value] of ours.entries()) expectSame(value, theirs[at])
  } else if (ours !== null && typeof ours === 'object') {
    const keys = Object.keys(ours)
    if (keys.join('\0') !== Object.keys(theirs as object).join('\0')) throw new Error('keys differ')
    for (const key of keys)
      expectSame(
        (ours as Record<string, JsonValue>)[key] as JsonValue,
        (theirs as Record<string, unknown>)[key],
      )
  } else if (!Object.is(ours, theirs)) throw new Error(`${ours} is read as ${theirs}`)
}
