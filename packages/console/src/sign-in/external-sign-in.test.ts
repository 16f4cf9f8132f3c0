// Signing in at an authorisation server, as an attacker sees it: a server of the test that speaks OpenID
// Connect over HTTP with real signatures, and says what each attack would have it say.

import { randomBytes } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { AccessTokenVerifier } from '@sluice/access/identity/callers/access-token-verifier'
import { ALGORITHMS, type Issuer } from '@sluice/access/identity/callers/issuer'
import { InstallationKey } from '@sluice/access/identity/keys/installation-key'
import { FAILED_FETCH_REST_MS, SIGN_IN_THERE_MS } from '@sluice/access/identity/limits'
import { endpointIn } from '@sluice/access/identity/oauth/discover-issuer'
import { hashVerifier } from '@sluice/access/identity/people/sign-in-states'
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { fileScratchDirectory } from '../../../../test/support/scratch.ts'
import { GUEST_MS } from '../http/limits.ts'
import { ExternalSignIn } from './external-sign-in.ts'

const ORIGIN = 'http://localhost:7433'
const folder = fileScratchDirectory()
let server: Server
let key: CryptoKey
let corp: Issuer
let nowMs = 1_800_000_000_000
let elsewhere: ExternalSignIn
/** What the server says, and what it was asked. */
let metadata: Record<string, unknown>
let claims: Record<string, unknown>
let userinfo: Record<string, unknown>
let tokenStatus = 200
let asked: { path: string; body: string; authorization: string | undefined }[] = []

beforeAll(async () => {
  const pair = await generateKeyPair('ES256')
  key = pair.privateKey
  const jwk = { ...(await exportJWK(pair.publicKey)), kid: 'k1', alg: 'ES256' }
  server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const path = request.url ?? ''
    asked.push({ path, body, authorization: request.headers.authorization })
    const say = (value: unknown, status = 200): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
    }
    if (path === '/.well-known/openid-configuration') return say(metadata)
    if (path === '/keys') return say({ keys: [jwk] })
    if (path === '/userinfo') return say(userinfo)
    if (path !== '/token') return say({}, 404)
    if (tokenStatus !== 200) return say({ error: 'invalid_grant' }, tokenStatus)
    const idToken = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
      .sign(key)
    say({ access_token: 'at', token_type: 'Bearer', id_token: idToken })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  corp = {
    name: 'corp',
    issuer,
    policy: 'p',
    scopes: ['mcp'],
    groups: 'groups',

    algorithms: ALGORITHMS,
    sessions: { max: 1, windowMs: 3_600_000 },
    explain: false,
    roles: { approver: ['ops'] },
    console: { clientId: 'console', scopes: ['groups'] },
  }
})
afterAll(() => {
  server.close()
})

beforeEach(() => {
  nowMs += 24 * 3_600_000
  asked = []
  tokenStatus = 200
  metadata = {
    issuer: corp.issuer,
    authorization_endpoint: `${corp.issuer}/auth?tenant=1`,
    token_endpoint: `${corp.issuer}/token`,
    userinfo_endpoint: `${corp.issuer}/userinfo`,
    jwks_uri: `${corp.issuer}/keys`,
    code_challenge_methods_supported: ['S256'],
  }
  userinfo = {}
  elsewhere = made()
})

function made(...others: readonly Issuer[]): ExternalSignIn {
  const issuers = [corp, ...others]
  const tokens = new AccessTokenVerifier(issuers, () => nowMs)
  const parts = { issuers, key: InstallationKey.at(folder), nowMs: () => nowMs }
  return new ExternalSignIn({ ...parts, tokens: async () => tokens })
}

/** A browser that went there and came back: the ID token is for its nonce unless a test says another. */
async function went(overrides: Record<string, unknown> = {}, name = 'corp') {
  const verifier = randomBytes(32).toString('base64url')
  const { address, state } = await elsewhere.begin(name, hashVerifier(verifier), ORIGIN)
  const query = new URL(address).searchParams
  const nowS = Math.floor(nowMs / 1_000)
  claims = {
    iss: corp.issuer,
    sub: 'ann',
    aud: 'console',
    iat: nowS,
    exp: nowS + 300,
    nonce: query.get('nonce'),
    groups: ['ops'],
    ...overrides,
  }
  return { address, query, answer: { code: 'c0de', state, verifier } }
}

async function enter(claims: Record<string, unknown> = {}) {
  return elsewhere.finish((await went(claims)).answer, ORIGIN)
}

test('there and back: a code for this tab, exchanged from here, groups become roles', async () => {
  const { address, query, answer } = await went()
  expect(address.startsWith(`${corp.issuer}/auth?tenant=1&`)).toBe(true)
  expect(Object.fromEntries(query)).toMatchObject({
    response_type: 'code',
    client_id: 'console',
    scope: 'openid groups',
    redirect_uri: `${ORIGIN}/sign-in/corp`,
    code_challenge_method: 'S256',
    code_challenge: hashVerifier(answer.verifier),
  })
  expect(address).not.toContain(answer.verifier)
  const { person, untilMs } = await elsewhere.finish(answer, ORIGIN)
  expect(person).toMatchObject({ name: 'corp:ann', roles: ['approver'], proof: 'oauth' })
  expect(untilMs).toBe(nowMs + GUEST_MS)
  const sent = asked.find(({ path }) => path === '/token')
  expect(Object.fromEntries(new URLSearchParams(sent?.body))).toEqual({
    grant_type: 'authorization_code',
    code: 'c0de',
    client_id: 'console',
    redirect_uri: `${ORIGIN}/sign-in/corp`,
    code_verifier: answer.verifier,
  })
})

test('an answer is for one tab, one page, once, in time', async () => {
  const { answer } = await went()
  const verifier = randomBytes(32).toString('base64url')
  const tried = async (given: typeof answer, origin = ORIGIN) => elsewhere.finish(given, origin)
  await expect(tried({ ...answer, verifier })).rejects.toThrow('began in another tab')
  await expect(tried(answer, 'http://localhost:1')).rejects.toThrow('the sign-in began at')
  for (const state of ['', 'sluice_state_', `${answer.state}A`, `sluice_state_${'A'.repeat(99)}`])
    await expect(tried({ ...answer, state })).rejects.toThrow('belongs to no sign-in of this gate')
  expect(asked.some(({ path }) => path === '/token')).toBe(false)
  await tried(answer)
  await expect(tried(answer)).rejects.toThrow('was used already')
  // Finding: the same bytes in another spelling were another state.
  for (const more of ['=', '!', ' ', '.'])
    await expect(tried({ ...answer, state: answer.state + more })).rejects.toThrow('no sign-in')
  const late = (await went()).answer
  nowMs += SIGN_IN_THERE_MS
  await expect(tried(late)).rejects.toMatchObject({ code: 'API_SIGN_IN', status: 401 })
})

test.each([
  ['of another sign-in (code injection)', { nonce: 'another' }, 'belongs to another sign-in'],
  ['without a nonce', { nonce: undefined }, 'belongs to another sign-in'],
  ['for another client (audience confusion)', { aud: 'mail' }, 'for another client'],
  ['for an agent’s address', { aud: `${ORIGIN}/mcp` }, 'for another client'],
  ['for several, not saying which asked', { aud: ['console', 'mail'] }, 'for another client'],
  ['that another client asked for', { aud: ['console', 'mail'], azp: 'mail' }, 'another client'],
  ['of another issuer', { iss: 'https://evil.example.com' }, 'cannot be verified'],
  ['that has expired', { exp: 1_800_000_000 - 60 }, 'expired'],
  ['whose subject is no name', { sub: 'a\u202Eb' }, 'is not a valid name'],
])('an ID token %s lets nobody in', async (_, claims, why) => {
  await expect(enter(claims)).rejects.toMatchObject({
    code: 'API_SIGN_IN',
    message: expect.stringContaining(why),
  })
})

test('clocks may be apart by half a minute', async () => {
  const nowS = Math.floor(nowMs / 1_000)
  await enter({ exp: nowS - 20, iat: nowS + 20 })
  await expect(enter({ exp: nowS - 31 })).rejects.toThrow('expired')
})

test('mix-up: an answer that names another issuer, or none where this one always does', async () => {
  const { answer } = await went()
  const evil = { ...answer, iss: 'https://evil.example.com' }
  await expect(elsewhere.finish(evil, ORIGIN)).rejects.toThrow(
    'but from `https://evil.example.com`',
  )
  elsewhere = made()
  metadata.authorization_response_iss_parameter_supported = true
  const silent = (await went()).answer
  await expect(elsewhere.finish(silent, ORIGIN)).rejects.toThrow('but from `no issuer`')
  const { person } = await elsewhere.finish({ ...(await went()).answer, iss: corp.issuer }, ORIGIN)
  expect(person.name).toBe('corp:ann')
  expect(asked.filter(({ path }) => path === '/token')).toHaveLength(1)
})

test('mix-up: a state of one issuer is none of another’s', async () => {
  elsewhere = made({
    ...corp,
    name: 'other',
    issuer: `${corp.issuer}/other`,
    console: { clientId: 'other', scopes: [] },
  })
  const { query, answer } = await went()
  expect(query.get('redirect_uri')).toBe(`${ORIGIN}/sign-in/corp`)
  expect((await elsewhere.finish(answer, ORIGIN)).person.name).toBe('corp:ann')
  await expect(elsewhere.begin('nobody', hashVerifier('x'), ORIGIN)).rejects.toMatchObject({
    code: 'API_NOT_FOUND',
  })
})

test('no match, no entry: it says which claim was looked for, and what was in it', async () => {
  const refused = async (claims: Record<string, unknown>, why: string) =>
    expect(enter(claims)).rejects.toMatchObject({
      code: 'API_ROLE',
      status: 403,
      message: expect.stringContaining(why),
      help: expect.stringContaining('auth.issuers.corp.roles'),
    })
  await refused({ groups: undefined }, 'there is no claim `groups`')
  await refused({ groups: 'ops' }, 'the claim `groups` is not a list')
  await refused({ groups: ['cooks'] }, 'has `cooks`, and none of them has a role')
})

test('userinfo has the claim where the ID token has not, and speaks for the same person', async () => {
  userinfo = { sub: 'ann', groups: ['ops'] }
  expect((await enter({ groups: undefined })).person.roles).toEqual(['approver'])
  expect(asked.at(-1)).toMatchObject({ path: '/userinfo', authorization: 'Bearer at' })
  userinfo = { sub: 'bob', groups: ['ops'] }
  await expect(enter({ groups: undefined })).rejects.toMatchObject({ code: 'API_ROLE' })
})

test('a code that is none is said, and a server that is down is not the person’s fault', async () => {
  tokenStatus = 400
  await expect(enter()).rejects.toMatchObject({
    code: 'API_SIGN_IN',
    message: expect.stringContaining('invalid_grant'),
  })
  tokenStatus = 503
  await expect(enter()).rejects.toMatchObject({ code: 'API_ISSUER', status: 502 })
  elsewhere = made({ ...corp, name: 'gone', issuer: 'http://127.0.0.1:1' })
  await expect(went({}, 'gone')).rejects.toMatchObject({
    code: 'API_ISSUER',
    message: expect.stringContaining('http://127.0.0.1:1'),
  })
})

test('a server that does not answer rightly is left alone for a while', async () => {
  metadata = { issuer: 'https://evil.example.com' }
  for (let at = 0; at < 3; at++) await expect(went()).rejects.toMatchObject({ code: 'API_ISSUER' })
  const looks = () => asked.filter(({ path }) => path.endsWith('openid-configuration')).length
  expect(looks()).toBe(1)
  nowMs += FAILED_FETCH_REST_MS
  await expect(went()).rejects.toThrow('is that of `https://evil.example.com`')
  expect(looks()).toBe(2)
})

test('SSRF by discovery: no plain http, nothing of this machine for a server elsewhere', async () => {
  for (const [name, value] of [
    ['token_endpoint', 'http://10.0.0.1/token'],
    ['authorization_endpoint', 'javascript:alert(1)'],
    ['userinfo_endpoint', 'file:///etc/passwd'],
  ] as const) {
    elsewhere = made()
    const right = metadata[name]
    metadata[name] = value
    await expect(went()).rejects.toThrow(`the ${name} of`)
    metadata[name] = right
  }

  const far = { issuer: 'https://id.example.com', token_endpoint: 'http://127.0.0.1:6379/' }
  expect(() => endpointIn(far, 'token_endpoint')).toThrow('is on this machine')
})

test('without PKCE it takes a secret, which goes to the token endpoint alone', async () => {
  metadata.code_challenge_methods_supported = []
  await expect(went()).rejects.toThrow('does not declare support for PKCE')
  const client = { clientId: 'console', clientSecret: 's3cret', scopes: [] }
  elsewhere = made({ ...corp, name: 'kept', console: client })
  const { address, answer } = await went({}, 'kept')
  expect(address).not.toContain('s3cret')
  expect((await elsewhere.finish(answer, ORIGIN)).person.name).toBe('kept:ann')
  const sent = asked.find(({ path }) => path === '/token')
  expect(sent?.authorization).toBe(`Basic ${btoa('console:s3cret')}`)
  expect(sent?.body).not.toContain('s3cret')
})
