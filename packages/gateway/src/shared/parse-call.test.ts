// What of a request a policy judges.

import { sampleFacts } from '@sluice/policy/cases/sample-facts'
import type { JsonRpcRequest } from '@sluice/protocol/message'
import { readMessages } from '@sluice/protocol/read-message'
import { expect, test } from 'vitest'
import { factsOf } from './parse-call.ts'

test('F12: a secret in `_meta` of a call is one of the call', () => {
  const key = `sk-${'aB3dE6gH9'.repeat(4)}`
  const holdsSecret = (params: object) => {
    const text = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
    const reading = readMessages(text, { batches: false })
    if (!reading.ok) throw new Error(reading.message)
    const known = sampleFacts(undefined)
    const request = reading.messages[0] as JsonRpcRequest
    return factsOf(request, { known, tool: undefined, args: {} }).holdsSecret?.()
  }
  expect(holdsSecret({ name: 't' })).toBe(false)
  expect(holdsSecret({ name: 't', _meta: { progressToken: 1 } })).toBe(false)
  expect(holdsSecret({ name: 't', _meta: { note: { [key]: 1 } } })).toBe(true)
})
