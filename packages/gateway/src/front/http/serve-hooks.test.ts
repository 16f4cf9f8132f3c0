import type { IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import type { ResponseWriter } from '../exchange/response-writer.ts'
import { HooksFront } from './serve-hooks.ts'

const front = new HooksFront({
  clientOf: () => 'codex',
  isGated: () => false,
  onOldHooks: () => {},
  gate: { handle: () => Promise.reject(new Error('it is asked before the address is known')) },
  authenticate: {
    caller: async (_request, reply) => {
      reply.send(401, {}, 'the token is looked at')
      return undefined
    },
  },
})

/** The answer to a hook that comes from this address. */
async function hookFrom(remoteAddress: string | undefined) {
  const sent: { status: number; body: string }[] = []
  const send = (status: number, _headers: object, body = '') => void sent.push({ status, body })
  const request = { method: 'POST', headers: {}, socket: { remoteAddress } }
  await front.serve('codex', request as IncomingMessage, { send } as ResponseWriter)
  return sent
}

test.each(['192.0.2.7', '10.0.0.1', '2001:db8::1', '::ffff:192.0.2.7', undefined])(
  'a hook from %s is refused before its token is looked at',
  async (address) => {
    const [answer, ...others] = await hookFrom(address)
    expect(answer).toMatchObject({ status: 403, body: expect.stringContaining('loopback only') })
    expect(others).toEqual([])
  },
)

test.each(['127.0.0.1', '::1', '::ffff:127.0.0.1'])('a hook from %s is looked at', async (from) => {
  expect(await hookFrom(from)).toMatchObject([{ status: 401 }])
})
