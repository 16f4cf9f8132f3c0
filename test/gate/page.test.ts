// The console of a gate that clients started: served on loopback from the first `sluice console` on, to the
// user of the gate alone, and without `/mcp`. Attacked as a web page (Host, Origin, DNS rebinding), as another
// user of the machine, and as a server of the gate.

import { spawnSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { askGate } from '../../packages/cli/src/connect/gate-socket.ts'
import { pipeTo } from '../support/line-pipe.ts'
import { makePerson, PIN } from '../support/person.ts'
import { sendRaw } from '../support/raw-http.ts'
import { sluice } from '../support/run-sluice.ts'
import {
  endGates,
  fixture,
  NODE,
  type RunningGate,
  startGate,
  until,
} from '../support/start-gate.ts'

let gate: RunningGate
let base = ''
let code = ''
const proof = { name: 'ann', pin: PIN }

beforeAll(async () => {
  gate = await startGate({
    servers: { knocking: fixture('knocking') },
    policy: 'version: 1\nmode: shadow\ndefault: deny\n',
    arguments: ['--piped'],
  })
  await makePerson(gate.data)
}, 60_000)
afterAll(endGates)

const send = (line: string, ...headers: string[]) => {
  const host = headers.some((header) => /^host:/i.test(header)) ? [] : [`host: ${hostOf(base)}`]
  const text = [line, ...host, ...headers, 'connection: close', '', ''].join('\r\n')
  return sendRaw(base.replace('localhost', '127.0.0.1'), text)
}
const statusOf = async (line: string, ...headers: string[]) =>
  Number(/^HTTP\/1.1 (\d+)/.exec(await send(line, ...headers))?.[1])
const hostOf = (url: string) => new URL(url).host

test('it is served only after a person has asked for it, and says where', async () => {
  expect(await askGate(gate.data, { do: 'status' })).toMatchObject({ isPiped: true, page: null })
  const wrong = askGate(gate.data, { do: 'console', proof: { ...proof, pin: 'wrong' } })
  await expect(wrong).rejects.toThrow()
  expect(await askGate(gate.data, { do: 'status' })).toMatchObject({ page: null })
  const response = await askGate(gate.data, { do: 'console', proof })
  ;[base = '', code = ''] = String(response?.url).split('/#code=')
  expect(base).toMatch(/^http:\/\/localhost:\d+$/)
  expect(await askGate(gate.data, { do: 'status' })).toMatchObject({ page: base })
  const again = await askGate(gate.data, { do: 'console', proof })
  expect(String(again?.url)).toContain(`${base}/#code=`)
})

test('the page needs the sign-in, which works once', async () => {
  // 503: the page is not built in this clone.
  expect([200, 503]).toContain(await statusOf('GET / HTTP/1.1'))
  expect(await statusOf('GET /api/approvals HTTP/1.1')).toBe(401)
  const signIn = () =>
    fetch(`${base}/api/sign-in`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: base },
      body: JSON.stringify({ code }),
    })
  const first = await signIn()
  const { token } = (await first.json()) as { token: string }
  expect([first.status, (await signIn()).status]).toEqual([200, 401])
  const authorization = `authorization: Bearer ${token}`
  expect(await statusOf('GET /api/approvals HTTP/1.1', authorization)).toBe(200)
  const settings = await send('GET /api/settings HTTP/1.1', authorization)
  expect(settings).toContain(`"url":"${base}"`)
  // What the page shows on top: every call passes.
  expect(settings).toContain('"observed":["policy"]')
})

describe('as a web page', () => {
  test.each([
    ['another host', ['host: evil.example']],
    ['another port of this host', ['host: localhost:1']],
    ['no host', ['host: ']],
    ['two hosts', ['host: localhost', 'host: evil.example']],
    ['another origin', ['origin: https://evil.example']],
    ['a page of another port', ['origin: http://localhost:1']],
    ['a sandboxed frame', ['origin: null']],
    ['no origin, but another site', ['sec-fetch-site: cross-site', 'sec-fetch-mode: no-cors']],
    ['no origin, but another port', ['sec-fetch-site: same-site', 'sec-fetch-mode: cors']],
  ])('%s is refused', async (_, headers) => {
    const status = await statusOf('GET /api/sign-in HTTP/1.1', ...headers)
    expect([400, 403]).toContain(status)
  })

  test('nothing but the page is there', async () => {
    const paths = [
      '/mcp',
      '/mcp/',
      '/mcp/knocking',
      '/mcp?x',
      '/metrics',
      '/api/none',
      `${base}/mcp`,
    ]
    for (const path of [...paths, '//evil.example/mcp', '/x/../mcp'])
      expect([path, await statusOf(`POST ${path} HTTP/1.1`, 'content-length: 0')]).toEqual([
        path,
        expect.toSatisfy((status) => [400, 401, 403, 404, 405].includes(status as number)),
      ])
    expect(await send('POST /mcp/knocking HTTP/1.1', 'content-length: 0')).toContain('sluice stdio')
  })
})

describe.runIf(process.platform === 'linux')('as another process', () => {
  test.runIf(process.getuid?.() === 0)('another user is refused', () => {
    const ask = `fetch(process.argv[1]).then((r) => console.log(r.status), (e) => console.log(e.message))`
    const run = (uid: number) =>
      spawnSync(NODE, ['-e', ask, base], { uid, encoding: 'utf8', cwd: '/', env: {} }).stdout.trim()
    const nobody = spawnSync('/bin/cat', [NODE], { uid: 65_534, stdio: 'ignore' })
    // The Node of this run may be in a folder that nobody else may read.
    if (nobody.status === 0) expect(run(65_534)).toBe('403')
    expect(['200', '503']).toContain(run(0))
  })

  test('a server of the gate is refused', async () => {
    const pipe = await pipeTo(gate, 'knocking')
    const clientInfo = { name: 'test', version: '1' }
    const hello = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }
    pipe.say({ id: 1, method: 'initialize', params: hello })
    await pipe.answerTo(1)
    pipe.say({ method: 'notifications/initialized' })
    pipe.say({ id: 2, method: 'tools/call', params: { name: 'knock', arguments: { url: base } } })
    const { result } = await pipe.answerTo(2)
    expect(JSON.stringify(result)).toContain('\\"status\\":403')
    // Who uses it is known to `sluice up`, which does not take the gate away from them.
    const up = await sluice(['up', '--config', `${gate.folder}/sluice.yaml`, '--no-pin'])
    expect([up.code, up.stderr]).toEqual([2, expect.stringContaining('test 1')])
    pipe.close()
  })
})

test('`sluice stop` ends it, and says if none runs', async () => {
  await until(async () => {
    const { sessions } = (await askGate(gate.data, { do: 'status' })) ?? {}
    return !JSON.stringify(sessions).includes('"connections":1')
  })
  const stop = () => sluice(['stop', '--config', `${gate.folder}/sluice.yaml`])
  expect(await stop()).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('stopped process'),
  })
  expect(await gate.exited).toBe(0)
  expect(await stop()).toMatchObject({ code: 1 })
})
