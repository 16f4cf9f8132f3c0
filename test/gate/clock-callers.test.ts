// Sign-ins, one-time codes, tokens of an authorisation server and limits of a real gate whose clock is set, while it
// runs and between kill -9 and a restart: nothing that has expired or was used is good again.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { atTerminal } from '../support/person.ts'
import { PlainClient } from '../support/plain-client.ts'
import { sluiceJson } from '../support/run-sluice.ts'
import { forms } from '../support/runs.ts'
import { HOUR_MS, SetClock, YEAR_MS } from '../support/set-clock.ts'
import { endGates, fixture, type GateSpec, type RunningGate } from '../support/start-gate.ts'

const SPEC: GateSpec = { servers: { echo: fixture('echo') } }

afterEach(endGates)

/** An authorisation server: its address, and tokens that it signs. */
async function startIssuer() {
  const { privateKey, publicKey } = await generateKeyPair('ES256')
  const jwk = { ...(await exportJWK(publicKey)), kid: 'k', alg: 'ES256', use: 'sig' }
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ keys: [jwk] }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const sign = (claims: { nbf?: number; iat?: number; exp: number }) =>
    new SignJWT({ ...claims, sub: 'ann', iss: issuer, aud: 'gate' })
      .setProtectedHeader({ alg: 'ES256', kid: 'k' })
      .sign(privateKey)
  return { issuer, sign }
}

test('a token of an authorisation server that has expired is not good again while the gate runs', async () => {
  const clock = new SetClock()
  const { issuer, sign } = await startIssuer()
  const jwks = `${issuer}/keys`
  const corp = { issuer, jwks, policy: 'policy', audience: 'gate' }
  const gate = await clock.start({ ...SPEC, config: { auth: { issuers: { corp } } } })
  const seconds = Math.floor(Date.now() / 1_000)
  const status = async (token: string) => {
    const client = new PlainClient(gate, 'echo')
    client.token = token
    return (await client.initialize()).status
  }
  const token = await sign({ exp: seconds + 600 })
  const early = await sign({ nbf: seconds + 3_000, exp: seconds + 9_000 })
  const long = await sign({ exp: seconds + 86_400, iat: seconds })
  expect([await status(token), await status(early), await status(long)]).toEqual([200, 401, 200])
  const client = await PlainClient.open(gate, 'echo', undefined, token)
  clock.set(-YEAR_MS)
  expect([await status(token), await status(early)]).toEqual([200, 401])
  clock.set(HOUR_MS)
  expect([await status(token), await status(early), await status(long)]).toEqual([401, 200, 200])
  expect((await client.call('echo')).status).toBe(401)
  for (const ahead of [0, -HOUR_MS, -YEAR_MS]) {
    clock.set(ahead)
    expect([await status(token), await status(long)]).toEqual([401, 200])
    expect((await client.call('echo')).status).toBe(401)
  }
})

async function post(url: string, body: object, token = ''): Promise<Response> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
  return fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
}

test('codes and sign-ins that have ended stay so, and one from the future ends at a restart', async () => {
  const clock = new SetClock()
  const gate = await clock.start(SPEC)
  await atTerminal(gate.data)
  const code = async ({ data }: RunningGate): Promise<string> =>
    (await sluiceJson(['console', '--no-open', '--data', data])).url.split('#code=')[1]
  const redeem = async (value: string) => {
    const response = await post(`${gate.url}/api/sign-in`, { code: value })
    return { status: response.status, ...((await response.json()) as { token: string }) }
  }
  const me = async ({ url }: RunningGate, token: string) =>
    (await fetch(`${url}/api/me`, { headers: { authorization: `Bearer ${token}` } })).status
  const [used, old] = [await code(gate), await code(gate)]
  const { token } = await redeem(used)
  expect(await me(gate, token)).toBe(200)
  clock.set(-HOUR_MS)
  expect([(await redeem(used)).status, await me(gate, token)]).toEqual([401, 200])
  clock.set(YEAR_MS)
  expect([(await redeem(old)).status, await me(gate, token)]).toEqual([401, 401])
  const ahead = await redeem(await code(gate))
  expect(await me(gate, ahead.token)).toBe(200)
  clock.set(0)
  expect([(await redeem(old)).status, await me(gate, token)]).toEqual([401, 401])
  expect(await me(gate, ahead.token)).toBe(200)
  await gate.kill()
  const next = await clock.start({ ...SPEC, folder: gate.folder })
  expect(await me(next, ahead.token)).toBe(401)
})

test('limits that were reached stay so over kill -9, whatever the clock is set back by', async () => {
  const clock = new SetClock()
  const limited = (kind: string) => `{ action: allow, ${kind}, window: 1h, per: principal } }`
  const spec = {
    servers: { ...SPEC.servers, office: fixture('office', './office.log') },
    policy: `version: 1
default: allow
tools:
  echo/echo: ${limited('rate_limit: { max: 1')}
  office/create_payment: ${limited('spend_limit: { amount: args.amount, max: 5')}
`,
  }
  let gate = await clock.start(spec)
  const codes = async () => {
    const echo = await PlainClient.open(gate, 'echo')
    const office = await PlainClient.open(gate, 'office')
    const replies = [await echo.call('echo'), await office.call('create_payment', { amount: 5 })]
    return replies.map(({ answer }) => answer.result._meta?.['sluice/decision']?.code)
  }
  expect(await codes()).toEqual([undefined, undefined])
  for (const ahead of forms([-60 * YEAR_MS, -HOUR_MS, 0])) {
    await gate.kill()
    clock.set(ahead)
    gate = await clock.start({ ...spec, folder: gate.folder })
    expect(await codes()).toEqual(['RATE_LIMITED', 'SPEND_LIMITED'])
  }
})
