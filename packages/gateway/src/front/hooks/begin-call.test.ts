// A hook whose line cannot enter its box because of a fault of the gate.

import type { JsonObject } from '@sluice/policy/values/json'
import type { JsonRpcResponse, ParsedMembers } from '@sluice/protocol/message'
import { writeResult } from '@sluice/protocol/write-message'
import { expect, test } from 'vitest'
import { beginCall } from './begin-call.ts'
import { HookServer } from './hook-server.ts'

test('is denied with the fault, and its call ends', async () => {
  const server = new HookServer('claude-code')
  const replies = new Map<string, (reply: JsonRpcResponse) => void>()
  const connected = server.connect(undefined as never, (message) => {
    const { id, result } = message as { id: string; result: JsonObject }
    const text = JSON.stringify(result)
    const source = writeResult(id, text)
    replies.get(id)?.({ kind: 'answer', id, result: text, error: undefined, source })
  })
  const ask = (method: string, params: ParsedMembers) =>
    new Promise<JsonRpcResponse>((resolve) => {
      replies.set('1', resolve)
      connected.receive({ jsonrpc: '2.0', id: '1', method, params: params.value })
    })
  const args = { command: 'make' }
  const open = beginCall(
    { tool: 'Bash', args, input: args },
    {
      kept: { link: { ask } as never, begun: Promise.resolve() },
      server,
      enter: () => Promise.reject(new Error('disk is full')),
    },
  )
  const why = 'this line cannot enter its box: disk is full'
  expect(await open?.verdict).toEqual({ kind: 'deny', reason: why })
  expect(await open?.reply).toMatchObject({ kind: 'result', isError: true, text: why })
  expect(open?.end).toBeUndefined()
})
