import { expect, test } from 'vitest'
import { deferClient } from './defer-client.ts'

test('if the session cannot be looked up, requests that waited are told when to try again', async () => {
  const sent: unknown[] = []
  const closed: string[] = []
  const client = {
    send: (text: string) => {
      sent.push(JSON.parse(text))
      return true
    },
    close: (why: string) => void closed.push(why),
  }
  const opening = Promise.reject(new Error('postgres://10.0.0.1 does not answer'))
  const connect = () => {
    throw new Error('it has no session')
  }
  const events = deferClient(client, opening, { connect, log: () => {} })
  events.onMessage({
    kind: 'request',
    id: 7,
    method: 'initialize',
    params: undefined,
    text: '',
  } as never)
  events.onMessage({ kind: 'notification', method: 'notifications/initialized' } as never)
  await Promise.allSettled([opening])
  expect(sent).toMatchObject([
    {
      id: 7,
      error: { data: { 'sluice/decision': { code: 'GATE_UNAVAILABLE', retryAfterMs: 5000 } } },
    },
  ])
  expect(closed).toHaveLength(1)
  expect(JSON.stringify([sent, closed])).not.toContain('postgres')
})
