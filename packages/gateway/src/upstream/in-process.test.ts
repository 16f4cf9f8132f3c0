import type { JsonRpcMessage } from '@sluice/protocol/message'
import { expect, test } from 'vitest'
import { InProcessUpstream } from './in-process.ts'
import type { UpstreamFailure } from './upstream.ts'

test('an answer that is too much to be read fails its request at once', () => {
  const failures: UpstreamFailure[] = []
  const messages: JsonRpcMessage[] = []
  let say: (message: object) => void = () => {}
  const caller = { owner: 'me', agent: undefined, labels: { saw: () => [], see: () => {} } }
  const start = (_: unknown, heard: typeof say) => {
    say = heard
    return { receive: () => {}, close: async () => {} }
  }
  new InProcessUpstream(start, caller, {
    onMessage: (message) => messages.push(message),
    onFailure: (failure) => failures.push(failure),
    onClose: () => {},
  })
  const text = 'x'.repeat(17 * 1_048_576)
  say({ jsonrpc: '2.0', id: 7, result: { text } })
  // No answer to anything: nobody waits.
  say({ jsonrpc: '2.0', method: 'notifications/progress', params: { text } })
  say({ jsonrpc: '2.0', id: 8, result: {} })
  expect(failures).toMatchObject([{ code: 'UPSTREAM_TOO_LARGE', request: 7, repeatable: false }])
  expect(messages).toHaveLength(1)
})
