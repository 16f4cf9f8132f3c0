// Alerts of a real gate over channels that are down, slow, failing or hostile, and a flood of one kind: every
// call is answered, one message tells of it, and a redirect leads nowhere. The forms of messages and the
// channels alone: packages/gateway/src/alerts and test/gate/approval-channels.test.ts.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { addAda, getToken } from '../console/stage.ts'
import { serveGate } from '../support/own-gate.ts'
import { listAll, PlainClient, recordsOf } from '../support/plain-client.ts'
import { IS_FULL } from '../support/runs.ts'
import { endGates, fixture, type ServingGate, until } from '../support/start-gate.ts'

const POLICY = 'version: 1\ndefault: allow\ntools: { office/delete_all: deny }\n'
const SECRET = 'of the hook, long enough'
const FLOOD = IS_FULL ? 4_000 : 500
const AT_ONCE = 50

afterEach(endGates)

type Answer = (request: IncomingMessage, response: ServerResponse) => void

/** What it was asked for, by the id of the message. */
async function serve(answer: Answer): Promise<{ url: string; port: number; ids: string[] }> {
  const ids: string[] = []
  const server = createServer((request, response) => {
    ids.push(String(request.headers['webhook-id']))
    request.resume()
    answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/`, port, ids }
}

function startOffice(url: string, mailPort: number): Promise<ServingGate> {
  const email = { host: '127.0.0.1', port: mailPort, tls: 'none', from: 'gate@example.com' }
  return serveGate({
    servers: { office: fixture('office') },
    policy: POLICY,
    config: {
      approvals: {
        webhook: { url, secret: SECRET },
        email: { ...email, to: { ada: 'ada@example.com' } },
      },
      alerts: { every: '1s', on: ['denials', 'injection'] },
    },
  })
}

async function closedPort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

test('thousands of denials are one alert, and no call waits for a webhook that hangs and a mail server that is gone', async () => {
  const hook = await serve(() => {})
  const gate = await startOffice(hook.url, await closedPort())
  const office = await PlainClient.open(gate, 'office')
  await listAll(office)
  let denied = 0
  const callOn = async () => {
    for (let at = 0; at < FLOOD / AT_ONCE; at++)
      if ((await office.call('delete_all', { at })).text.includes('DENIED')) denied++
  }
  await Promise.all(Array.from({ length: AT_ONCE }, callOn))
  expect(denied).toBe(FLOOD)
  await until(() => hook.ids.length > 0)
  // The webhook has the alert, and does not answer.
  expect((await office.call('read_file', { path: 'a' })).text).toContain('read_file')
  await until(() => notSent(gate).length === 2)
  expect((await office.call('delete_all', {})).text).toContain('DENIED')
  // As long as the rate is high it is the same alert, however often `every` has passed.
  expect(new Set(hook.ids).size).toBe(1)
  expect(hook.ids.length).toBeLessThanOrEqual(4)
  expect(
    notSent(gate)
      .map((line) => /channel=(\w+)/.exec(line)?.[1])
      .sort(),
  ).toEqual(['email', 'webhook'])
  await gate.stop()
  const events = recordsOf(gate).filter((record) => record.kind === 'event')
  expect(events.filter(({ name }) => name === 'alert')).toHaveLength(1)
})

test('a redirect to an inner address is not followed', async () => {
  const inner = await serve((_, response) => void response.end())
  const hook = await serve((_, response) => {
    response.writeHead(307, { location: inner.url }).end()
  })
  const gate = await startOffice(hook.url, inner.port)
  await addAda(gate)
  const token = await getToken(gate)
  const sendTest = async () => {
    const headers = { authorization: `Bearer ${token}` }
    const response = await fetch(`${gate.url}/api/alerts/test`, { method: 'POST', headers })
    const { deliveries } = (await response.json()) as { deliveries: { why: string }[] }
    return deliveries[0]?.why
  }
  expect(await sendTest()).toContain('redirects are not followed')
  expect(hook.ids).toHaveLength(1)
  // The mail client greets nobody there, and the webhook never came.
  expect(inner.ids).toEqual([])
})

function notSent(gate: ServingGate): string[] {
  return gate.log.split('\n').filter((line) => line.includes('an alert was not sent'))
}
