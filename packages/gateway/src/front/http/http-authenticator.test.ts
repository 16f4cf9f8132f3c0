import type { Authenticator } from '@sluice/access/identity/callers/authenticator'
import { AuthenticationError } from '@sluice/access/identity/callers/caller'
import { expect, test } from 'vitest'
import type { FrontRequest, ResponseWriter } from '../exchange/response-writer.ts'
import { HttpAuthenticator } from './http-authenticator.ts'

test('L9: a token that cannot be checked now is an outage, with its code and when to try again', async () => {
  const fault = new AuthenticationError('no keys', 'tokens cannot be checked now: try again', {
    isFault: true,
  })
  const authenticate = new HttpAuthenticator({
    authenticator: { admit: () => Promise.reject(fault) } as unknown as Authenticator,
    baseOf: () => 'https://gate.example',
    issuers: ['https://login.example'],
    scopes: [],
  })
  const sent: unknown[] = []
  const send = (...answer: unknown[]) => void sent.push(answer)
  const request = { headers: { authorization: 'Bearer abc' }, socket: {} } as FrontRequest
  await authenticate.caller(request, { send, isBegun: false } as unknown as ResponseWriter, '/mcp')
  const [[status, headers, body]] = sent as [[number, object, string]]
  expect([status, headers]).toEqual([503, expect.objectContaining({ 'retry-after': '5' })])
  expect(JSON.parse(body)).toMatchObject({
    error: {
      code: -32_603,
      message: 'no keys; tokens cannot be checked now: try again',
      data: { 'sluice/decision': { code: 'GATE_UNAVAILABLE', retryAfterMs: 5_000 } },
    },
  })
})
