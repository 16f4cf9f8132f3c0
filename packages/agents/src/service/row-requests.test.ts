import { createHmac } from 'node:crypto'
import { deserialize } from 'node:v8'
import { expect, test } from 'vitest'
import { refuseRowRequests } from './row-requests.ts'

test('a request by a row is refused with a reply that a gate of version 0.1 reads', async () => {
  const requestKey = Buffer.alloc(32, 1)
  const replies: unknown[][] = []
  const connections = {
    query: async (text: string, values: readonly unknown[] = []) => {
      if (text.includes('RETURNING')) return values[0] === 'own' ? [{ id: 'r1' }] : []
      replies.push([...values])
      return []
    },
  }
  await refuseRowRequests({ connections, gate: 'a', requestKey }, 'own')
  const [[id, sealed] = []] = replies as [string, Buffer][]
  const body = (sealed as Buffer).subarray(32)
  // As that version checks it.
  const code = createHmac('sha256', requestKey).update('reply r1\n').update(body).digest()
  expect([id, (sealed as Buffer).subarray(0, 32)]).toEqual(['r1', code])
  expect(deserialize(body)).toEqual({
    error: {
      code: 'AGENT_UNAVAILABLE',
      message: expect.stringMatching(/runs at `a`.*try again when this one is upgraded/),
    },
  })
})
