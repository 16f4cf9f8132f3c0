// An authorisation server that turned hostile, towards the gate that signs people in there: forged
// tokens, documents without end, redirects, keys that are none. Nobody gets in, and the gate neither
// falls nor follows.

import { createHmac, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AccessTokenVerifier } from '@sluice/access/identity/callers/access-token-verifier'
import { ALGORITHMS, type Issuer } from '@sluice/access/identity/callers/issuer'
import { InstallationKey } from '@sluice/access/identity/keys/installation-key'
import { FETCH_BYTES_MAX, FETCH_MS_MAX } from '@sluice/access/identity/limits'
import { endpointIn } from '@sluice/access/identity/oauth/discover-issuer'
import { hashVerifier } from '@sluice/access/identity/people/sign-in-states'
import {
  type CryptoKey,
  exportJWK,
  exportSPKI,
  generateKeyPair,
  type JWTHeaderParameters,
  SignJWT,
} from 'jose'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { ExternalSignIn } from './sign-in/external-sign-in.ts'

const ORIGIN = 'http://localhost:7433'
const DISCOVERY = '/.well-known/openid-configuration'
const folder = mkdtempSync(join(tmpdir(), 'sluice-hostile-'))
const otherFolder = mkdtempSync(join(tmpdir(), 'sluice-other-'))

type Handler = (response: ServerResponse, request: IncomingMessage) => void
let server: Server
let pair: { privateKey: CryptoKey; publicKey: CryptoKey }
let jwk: Record<string, unknown>
let corp: Issuer
let nowMs = 1_800_000_000_000
let elsewhere: ExternalSignIn
let asked: string[] = []
/** What is answered in place of the right thing, by path. */
let hostile: Record<string, Handler> = {}
let userinfo: unknown
let claims: Record<string, unknown> = {}
let sign: () => unknown

const say =
  (value: unknown, status = 200): Handler =>
  (response) =>
    void response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(typeof value === 'string' ? value : JSON.stringify(value))

beforeAll(async () => {
  pair = await generateKeyPair('ES256')
  jwk = { ...(await exportJWK(pair.publicKey)), kid: 'k1', alg: 'ES256' }
  server = createServer(async (request, response) => {
    const path = request.url ?? ''
    asked.push(path)
    request.resume()
    const { issuer } = corp
    const right: Record<string, () => unknown> = {
      [DISCOVERY]: () => ({
        issuer,
        authorization_endpoint: `${issuer}/auth`,
        token_endpoint: `${issuer}/token`,
        userinfo_endpoint: `${issuer}/userinfo`,
        jwks_uri: `${issuer}/keys`,
        code_challenge_methods_supported: ['S256'],
      }),
      '/keys': () => ({ keys: [jwk] }),
      '/token': async () => ({
        access_token: 'at',
        token_type: 'Bearer',
        id_token: await sign(),
      }),
      '/userinfo': () => userinfo,
    }
    const special = hostile[path]
    if (special !== undefined) return special(response, request)
    const make = right[path]
    say(make === undefined ? {} : await make(), make === undefined ? 404 : 200)(response, request)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  corp = {
    name: 'corp',
    policy: 'p',
    scopes: [],
    groups: 'groups',
    algorithms: ALGORITHMS,
    sessions: { max: 1, windowMs: 3_600_000 },
    explain: false,
    roles: { approver: ['ops'] },
    issuer: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    console: { clientId: 'console', scopes: [] },
  }
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
  for (const each of [folder, otherFolder]) rmSync(each, { recursive: true })
})
beforeEach(() => {
  nowMs += 24 * 3_600_000
  asked = []
  hostile = {}
  userinfo = {}
  sign = () => signed({ alg: 'ES256', kid: 'k1' })
  elsewhere = make()
})
afterEach(() => {
  vi.restoreAllMocks()
})

function make(at = folder): ExternalSignIn {
  const tokens = new AccessTokenVerifier([corp], () => nowMs)
  const parts = { issuers: [corp], key: InstallationKey.at(at), nowMs: () => nowMs }
  return new ExternalSignIn({ ...parts, tokens: async () => tokens })
}

const signed = (header: JWTHeaderParameters, key = pair.privateKey) =>
  new SignJWT(claims).setProtectedHeader(header).sign(key)

/** A token of any header, with the signature that `seal` makes. */
function forged(header: object, seal: (text: string) => string): string {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
  const text = `${encode(header)}.${encode(claims)}`
  return `${text}.${seal(text)}`
}

async function leave(overrides: Record<string, unknown> = {}) {
  const verifier = randomBytes(32).toString('base64url')
  const { address, state } = await elsewhere.begin('corp', hashVerifier(verifier), ORIGIN)
  const nowS = Math.floor(nowMs / 1_000)
  claims = {
    iss: corp.issuer,
    sub: 'ann',
    aud: 'console',
    iat: nowS,
    exp: nowS + 300,
    nonce: new URL(address).searchParams.get('nonce'),
    groups: ['ops'],
    ...overrides,
  }
  return { code: 'c0de', state, verifier }
}

async function enter(overrides: Record<string, unknown> = {}) {
  return elsewhere.finish(await leave(overrides), ORIGIN)
}

/** Refused as an answer of the API, and not as a fault of the gate. */
async function refused(entering: Promise<unknown>): Promise<string> {
  const error = await entering.then(
    () => undefined,
    (thrown: Error & { code?: string }) => thrown,
  )
  expect(error).toMatchObject({ code: expect.stringMatching(/^API_(SIGN_IN|ISSUER|ROLE)$/) })
  return (error as Error).message
}

test('what a right server says lets the person in', async () => {
  expect((await enter()).person).toMatchObject({ name: 'corp:ann', roles: ['approver'] })
})

test('a token that anybody can write lets nobody in', async () => {
  const other = await generateKeyPair('ES256')
  const pem = await exportSPKI(pair.publicKey)
  const hmac = (secret: string) => (text: string) =>
    createHmac('sha256', secret).update(text).digest('base64url')
  const ownKey = { jwk: await exportJWK(other.publicKey), jku: `${corp.issuer}/evil-keys` }
  const tokens: (() => unknown)[] = [
    ...['none', 'None', 'NONE', ''].map((alg) => () => forged({ alg, kid: 'k1' }, () => '')),
    () => forged({ alg: 'HS256', kid: 'k1' }, hmac(pem)),
    () => forged({ alg: 'HS256', kid: 'k1' }, hmac(JSON.stringify(jwk))),
    () => forged({ alg: 'ES256', kid: 'k1' }, () => Buffer.alloc(64).toString('base64url')),
    () => forged({ alg: 'ES256', kid: 'k1', crit: ['b64'], b64: false }, () => 'AA'),
    () => signed({ alg: 'ES256', kid: 'k1' }, other.privateKey),
    () => signed({ alg: 'ES256', ...ownKey, x5u: `${corp.issuer}/evil` }, other.privateKey),
    () => signed({ alg: 'ES256', kid: '../k1' }, other.privateKey),
  ]
  for (const forge of tokens) {
    sign = forge
    expect(await refused(enter())).toContain('cannot be verified')
  }
  expect(asked.filter((path) => path.includes('evil'))).toEqual([])
})

test('what is no ID token lets nobody in', async () => {
  const texts = ['', '.', '..', 'a.b.c', 'a.b.c.d.e', 'x'.repeat(100_000), null, 5, {}, ['a.b.c']]
  for (const text of texts) {
    sign = () => text
    await refused(enter())
  }
})

test('a token or a state of another sign-in lets nobody in', async () => {
  await enter()
  const { nonce } = claims
  expect(await refused(enter({ nonce }))).toContain('belongs to another sign-in')
  for (const wrong of ['', null, [], [nonce], 0])
    expect(await refused(enter({ nonce: wrong }))).toContain('belongs to another sign-in')
  const answer = await leave()
  const elsewhereAgain = make(otherFolder)
  const before = asked.length
  expect(await refused(elsewhereAgain.finish(answer, ORIGIN))).toContain('belongs to no sign-in')
  expect(asked.length).toBe(before)
})

test('a storm of unknown keys makes the gate fetch the keys once', async () => {
  const other = await generateKeyPair('ES256')
  await enter()
  for (let at = 0; at < 20; at++) {
    sign = () => signed({ alg: 'ES256', kid: `k${at + 2}` }, other.privateKey)
    expect(await refused(enter())).toContain('cannot be verified')
  }
  expect(asked.filter((path) => path === '/keys')).toHaveLength(1)
  sign = () => signed({ alg: 'ES256', kid: 'k1' })
  await enter()
})

test('keys that are none let nobody in', async () => {
  const sets = [
    '',
    'null',
    '[]',
    '{"keys":{}}',
    '{"keys":[null]}',
    '{"keys":[]}',
    '[['.repeat(50_000),
    ...[
      { ...jwk, x: 'AA' },
      { ...jwk, crv: 'P-999' },
      { ...jwk, kty: 'oct', k: 'AAAA' },
      { kid: 'k1' },
    ].map((key) => JSON.stringify({ keys: [key] })),
    JSON.stringify({ keys: Array(1_000).fill({ ...jwk, x: 'AA' }) }),
  ]
  for (const set of sets) {
    hostile = { '/keys': say(set) }
    elsewhere = make()
    await refused(enter())
  }
})

test.each([DISCOVERY, '/token', '/keys', '/userinfo'])(
  '%s without an end is cut off',
  async (path) => {
    const closed: Promise<void>[] = []
    hostile[path] = (response) => {
      closed.push(new Promise((resolve) => response.once('close', resolve)))
      response.writeHead(200, { 'content-type': 'application/json' })
      const more = (): void => {
        while (!response.destroyed && response.write(' '.repeat(16_384)));
      }
      response.on('drain', more)
      more()
    }
    expect(await refused(enter({ groups: undefined }))).toContain(
      `more than ${FETCH_BYTES_MAX} bytes`,
    )
    await Promise.all(closed)
    expect(closed.length).toBeGreaterThan(0)
  },
)

test.each([DISCOVERY, '/token', '/keys', '/userinfo'])(
  '%s that never ends is given up',
  async (path) => {
    const clock = new AbortController()
    const limits: number[] = []
    vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
      limits.push(ms)
      return clock.signal
    })
    hostile[path] = (response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).write('{"a":')
      setImmediate(() => clock.abort(new DOMException('the time is over', 'TimeoutError')))
    }
    await refused(enter({ groups: undefined }))
    expect(new Set(limits)).toEqual(new Set([FETCH_MS_MAX]))
  },
)

test.each([DISCOVERY, '/token', '/keys', '/userinfo'])(
  '%s that redirects is not followed',
  async (path) => {
    for (const status of [301, 302, 303, 307, 308]) {
      hostile[path] = (response) =>
        void response.writeHead(status, { location: `${corp.issuer}/inner` }).end('{}')
      elsewhere = make()
      await refused(enter({ groups: undefined }))
    }
    expect(asked).not.toContain('/inner')
  },
)

test('userinfo of somebody else, or of nobody, gives no role', async () => {
  for (const body of [{}, { sub: 'bob' }, { sub: ['ann'] }, { sub: 'ann\0' }, [], 'ann', null]) {
    userinfo =
      typeof body === 'object' && !Array.isArray(body) ? { ...body, groups: ['ops'] } : body
    expect(await refused(enter({ groups: undefined }))).toContain('groups')
  }
  hostile['/userinfo'] = say({ sub: 'ann', groups: ['ops'] }, 500)
  await refused(enter({ groups: undefined }))
})

test('discovery names no address of this machine or of its links, however it is spelt', () => {
  const hosts = [
    'localhost',
    'LOCALHOST',
    'a.localhost',
    'localhost.',
    '127.0.0.1',
    '127.1',
    '2130706433',

    '0x7f.1',
    '0177.0.0.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '169.254.169.254',
    '[fe80::1]',
    '0.0.0.0',
    '[::]',
    '0',
  ]
  for (const host of hosts)
    for (const scheme of ['http', 'https']) {
      const metadata = { issuer: 'https://id.example.com', token_endpoint: `${scheme}://${host}/t` }
      expect(() => endpointIn(metadata, 'token_endpoint'), host).toThrow(
        /on this machine|not https/,
      )
    }
})
