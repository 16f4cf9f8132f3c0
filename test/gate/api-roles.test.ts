// Every row of `/api` asked by every kind of caller: without a token, by people of each role, by systems,
// with an agent's token and under other spellings of its path. Nobody gets past the role of a row, and
// nobody but a system past its proof.

import { spawnSync } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { People } from '../../packages/access/src/identity/people/people.ts'
import { ROLES, type Role } from '../../packages/access/src/identity/person.ts'
import { askGate } from '../../packages/cli/src/connect/gate-socket.ts'
import { Page } from '../../packages/console/src/admin.test-support.ts'
import { makePerson, PIN } from '../support/person.ts'
import { sendRaw } from '../support/raw-http.ts'
import { endGates, fixture, NODE, type RunningGate, startGate } from '../support/start-gate.ts'

interface Row {
  readonly method: string
  readonly path: string
  readonly role: Role | 'anyone'
  readonly proof: boolean | 'offered'
}

interface Asker {
  readonly page: Page
  readonly roles: readonly Role[]
}

let gate: RunningGate
let base: string
const pages = new Map<string, Asker>()
let rows: Row[] = []
const issuer = createServer()
const keys = await generateKeyPair('ES256')

beforeAll(async () => {
  const jwk = { ...(await exportJWK(keys.publicKey)), kid: 'k1', alg: 'ES256' }
  issuer.on('request', (_, response) => response.end(JSON.stringify({ keys: [jwk] })))
  await new Promise<void>((resolve) => issuer.listen(0, '127.0.0.1', resolve))
  gate = await startGate({
    servers: { echo: fixture('echo') },
    config: {
      api: { change_servers: true },
      // Nothing but `admins`: the first administrator of a machine without a terminal.
      auth: {
        issuers: {
          corp: {
            issuer: issuerUrl(),
            jwks: `${issuerUrl()}/keys`,
            policy: 'policy',
            admins: ['root-of-trust'],
          },
        },
      },
    },
  })
  base = gate.url.replace('127.0.0.1', 'localhost')
  for (const role of ROLES) {
    await makePerson(gate.data, role, [role])
    const opened = await askGate(gate.data, { do: 'console', proof: { name: role, pin: PIN } })
    const page = new Page(base)
    await page.signIn(String(opened?.url).split('#code=')[1] ?? '')
    pages.set(role, { page, roles: [role] })
  }
  const people = People.open(gate.data)
  for (const role of ['viewer', 'approver'] as const) {
    const name = `bot-${role}`
    const system = { name, kind: 'system', roles: [role], groups: [], owns: [] } as const
    const { token } = await people.add(system, { token: true }, Date.now())
    const page = new Page(base)
    page.token = token ?? ''
    pages.set(name, { page, roles: [role] })
  }
  people.close()
  pages.set('nobody', { page: new Page(base), roles: [] })
  const agent = new Page(base)
  agent.token = await tokenFor({ sub: 'root-of-trust', aud: `${gate.url}/mcp` })
  pages.set('agent', { page: agent, roles: [] })
  const { body } = await pageOf('admin').ask('GET', '/api/openapi.json')
  const paths = body.paths as Record<string, Record<string, Record<string, never>>>
  rows = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, row]) => ({
      method: method.toUpperCase(),
      path: path.replace(/\{\w+\}/g, 'x'),
      role: row['x-role'] as unknown as Role,
      proof: row['x-proof'] as unknown as boolean,
    })),
  )
}, 60_000)
afterAll(async () => {
  await endGates()
  issuer.close()
})

function pageOf(name: string): Page {
  const { page } = pages.get(name) as Asker
  return page
}

function issuerUrl(): string {
  return `http://127.0.0.1:${(issuer.address() as AddressInfo).port}`
}

function tokenFor(claims: Record<string, unknown>): Promise<string> {
  const exp = Math.floor(Date.now() / 1_000) + 36_000
  return new SignJWT({ iss: issuerUrl(), exp, ...claims })
    .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
    .sign(keys.privateKey)
}

function mayAsk({ role }: Row, roles: readonly Role[]): boolean {
  if (role === 'anyone') return true
  return role === 'viewer' ? roles.length > 0 : roles.some((one) => one === role || one === 'admin')
}

const hasBody = ({ method }: Row) => method === 'POST' || method === 'PUT'
/** Streams do not end, and a sign-out would. */
const isAsked = ({ method, path }: Row) =>
  !/\/(watch|live)$/.test(path) && !(method === 'DELETE' && path === '/api/sign-in')

/** The status and the code of the error; an export is no JSON. */
async function codeOf({ token }: Page, row: Row): Promise<[status: number, code: string]> {
  const response = await fetch(`${base}${row.path}`, {
    method: row.method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      'content-type': 'application/json',
    },
    ...(hasBody(row) ? { body: '{}' } : {}),
  })
  const [, code = ''] = /^{"error":{"code":"(\w+)"/.exec(await response.text()) ?? []
  return [response.status, code]
}

test('no caller gets past the role of a row, and no person past its proof', async () => {
  expect(rows.length).toBeGreaterThan(60)
  const odd: unknown[] = []
  const check = async (row: Row, [who, { page, roles }]: [string, Asker]): Promise<void> => {
    const [status, code] = await codeOf(page, row)
    const isRefused = code === 'API_ROLE' || (code === 'API_SIGN_IN' && roles.length === 0)
    const needsProof = row.proof === true && !isRefused && !who.startsWith('bot-')
    const isProofAsked = code === 'API_PROOF' || code === 'API_REQUEST'
    if (isRefused === mayAsk(row, roles) || (needsProof && !isProofAsked) || status === 500)
      odd.push([who, row.method, row.path, status, code])
  }
  for (const row of rows.filter(isAsked))
    await Promise.all([...pages].map((asker) => check(row, asker)))
  expect(odd).toEqual([])
}, 120_000)

describe('finding: a path that a proxy reads in another way', () => {
  const ask = async (method: string, path: string, headers: readonly string[] = []) => {
    const host = `Host: ${new URL(base).host}`
    const head = [`${method} ${path} HTTP/1.1`, host, ...headers, 'Connection: close', '', '']
    return sendRaw(gate.url, head.join('\r\n'), 20_000)
  }

  test.each([
    '/mcp/../api/people',
    '/mcp/%2e%2e/api/people',
    '/x/.%2E/api/people',
    '/api/./people',
    '/mcp\\..\\api\\people',
    '/\\api/people',
  ])('%s is refused, also with a token', async (path) => {
    const token = `Authorization: Bearer ${pageOf('admin').token}`
    expect(await ask('GET', path, [token])).toMatch(/^HTTP\/1.1 400 /)
  })

  test.each([
    '/api/people/',
    '/api//people',
    '//api/people',
    '/API/people',
    '/%61pi/people',
    '/api%2fpeople',
    '/api/people;x=1',
    '/api/people%00',
    '/api/%70eople',
  ])('%s is nothing', async (path) => {
    const token = `Authorization: Bearer ${pageOf('admin').token}`
    expect(await ask('GET', path, [token])).toMatch(/^HTTP\/1.1 404 /)
  })

  test('no header names another method or path, and no other method looks', async () => {
    const token = `Authorization: Bearer ${pageOf('viewer').token}`
    const names = ['X-HTTP-Method-Override: GET', 'X-Original-URL: /api/people']
    for (const method of ['HEAD', 'OPTIONS', 'PATCH', 'TRACE', 'PROPFIND'])
      expect([method, await ask(method, '/api/people', [token, ...names])]).toEqual([
        method,
        expect.stringMatching(/^HTTP\/1.1 405 /),
      ])
    const created = await ask('GET', '/api/people', [token, 'X-HTTP-Method-Override: DELETE'])
    expect(created).toMatch(/^HTTP\/1.1 200 /)
  })
})

test('finding: `admins` alone lets the first administrator in, and an access token makes no passkey', async () => {
  const page = new Page(base)
  const jwt = await tokenFor({ sub: 'root-of-trust', aud: `${base}/api` })
  const { body } = await page.ask('POST', '/api/sign-in', { jwt })
  expect(body.me).toMatchObject({ name: 'corp:root-of-trust', roles: ROLES, proof: 'token' })
  // The token lasts ten hours.
  expect(body.me.expiresAtMs - Date.now()).toBeLessThanOrEqual(3_600_000)
  page.token = body.token
  expect((await page.addPasskey()).body.error.code).toBe('API_PROOF')
  expect((await page.ask('POST', '/api/thaw', {})).body.error.code).toBe('API_PROOF')
  const other = await tokenFor({ sub: 'root-of-trus', aud: `${base}/api` })
  expect((await page.ask('POST', '/api/sign-in', { jwt: other })).body.error.code).toBe('API_ROLE')
  const agents = await tokenFor({ sub: 'root-of-trust', aud: `${base}/mcp` })
  expect((await page.ask('POST', '/api/sign-in', { jwt: agents })).status).toBe(401)
})

const isRoot = process.platform === 'linux' && process.getuid?.() === 0
test.runIf(isRoot)(
  'finding: a code that a browser was opened with is nothing to another user',
  async () => {
    const proof = { name: 'viewer', pin: PIN }
    const opened = await askGate(gate.data, { do: 'console', open: true, proof })
    const code = String(opened?.url).split('#code=')[1] ?? ''
    const ask = `fetch(process.argv[1] + '/api/sign-in', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code: process.argv[2] }),
  }).then(({ status }) => console.log(status))`
    const enter = (uid: number) =>
      spawnSync(NODE, ['-e', ask, base, code], { uid, encoding: 'utf8', cwd: '/', env: {} }).stdout
    // The Node of this run may be in a folder that nobody else may read.
    const nobody = spawnSync('/bin/cat', [NODE], { uid: 65_534, stdio: 'ignore' })
    if (nobody.status === 0) expect(enter(65_534)).toBe('401\n')
    expect(enter(0)).toBe('200\n')
  },
)
