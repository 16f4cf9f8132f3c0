// Access tokens: keys over HTTP from a server of the test, and every way a token can be invalid.

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { CLOCK_SKEW_S, FAILED_FETCH_REST_MS, FETCH_BYTES_MAX, KEYS_COOLDOWN_MS } from '../limits.ts'
import { AccessTokenVerifier } from './access-token-verifier.ts'
import type { AuthenticationError } from './caller.ts'
import { ALGORITHMS, type Issuer } from './issuer.ts'

const T = 1_800_000_000
const GATE = 'https://gate.example.com/mcp/notes'
const AUDIENCES = [GATE, 'https://gate.example.com/mcp']

let server: Server
let issuer = ''
let answer = ''
let asked: string[] = []
let nowS = T
let tokens: AccessTokenVerifier
let key: CryptoKey
let other: CryptoKey
let publicJwk: object

beforeAll(async () => {
  const pair = await generateKeyPair('ES256')
  key = pair.privateKey
  publicJwk = { ...(await exportJWK(pair.publicKey)), kid: 'k1', alg: 'ES256' }
  other = (await generateKeyPair('ES256')).privateKey
  server = createServer((request, response) => {
    asked.push(request.url ?? '')
    const isMetadata = request.url === '/.well-known/openid-configuration'
    const metadata = JSON.stringify({ issuer, jwks_uri: `${issuer}/keys` })
    if (isMetadata) return response.end(metadata)
    response.writeHead(request.url === '/keys' ? 200 : 404).end(answer)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => server.close())

beforeEach(() => {
  nowS = T
  asked = []
  answer = JSON.stringify({ keys: [publicJwk] })
  tokens = tokensOf({})
})

function tokensOf(fields: Partial<Issuer>): AccessTokenVerifier {
  const terms = {
    policy: 'reader',
    scopes: ['mcp'],
    groups: 'roles',
    sessions: { max: 2, windowMs: 1_000 },
    explain: true,
  }
  const corp = { name: 'corp', issuer, ...terms, algorithms: ALGORITHMS, roles: {}, ...fields }
  return new AccessTokenVerifier([corp], () => nowS * 1_000)
}

const CLAIMS = { scope: 'openid mcp', roles: ['ops', 7, 'dev'], big: 2 ** 60, level: 3 }

interface Made {
  claims?: Record<string, unknown>
  header?: Record<string, unknown>
  by?: CryptoKey | Uint8Array
}

function make({ claims = {}, header = {}, by = key }: Made = {}): Promise<string> {
  const all = { iss: issuer, sub: 'ann', aud: GATE, exp: T + 60, ...CLAIMS, ...claims }
  const given = Object.entries(all).filter(([, value]) => value !== undefined)
  return new SignJWT(Object.fromEntries(given))
    .setProtectedHeader({ alg: 'ES256', kid: 'k1', ...header })
    .sign(by)
}

async function refusal(token: string, checked = tokens): Promise<AuthenticationError> {
  return checked.check(token, AUDIENCES).then(
    () => expect.unreachable('it was let in'),
    (error: AuthenticationError) => error,
  )
}

describe('an access token', () => {
  test('that is valid becomes a caller with groups and claims, prefixed with the name of its issuer', async () => {
    const { principal, ...terms } = await tokens.check(await make(), AUDIENCES)
    expect(principal).toMatchObject({ id: 'corp:ann', kind: 'oauth', groups: ['ops', 'dev'] })
    expect(principal.claims).toMatchObject({ scope: 'openid mcp', level: 3 })
    expect(principal.claims).not.toHaveProperty('big')
    expect(terms).toMatchObject({
      policy: 'reader',
      sessions: { max: 2, windowMs: 1_000 },
      explain: true,
    })
    expect(terms.holds()).toBe(true)
    nowS = T + 60 + CLOCK_SKEW_S
    expect(terms.holds()).toBe(false)
  })

  test.each<[string, string, Made]>([
    ['of another key', 'cannot be verified', { by: undefined as unknown as CryptoKey }],
    [
      'of another issuer',
      'issuer of the token is not',
      { claims: { iss: 'https://evil.example' } },
    ],
    ['without an issuer', 'issuer of the token is not', { claims: { iss: undefined } }],
    ['for another', 'for another', { claims: { aud: 'https://gate.example.com/mcp/other' } }],
    ['for the issuer itself', 'for another', { claims: { aud: 'https://gate.example.com' } }],
    ['for nobody', 'missing required "aud"', { claims: { aud: undefined } }],
    ['for a list of others', 'for another', { claims: { aud: ['a', 'b'] } }],
    ['that has expired', 'has expired', { claims: { exp: T - CLOCK_SKEW_S } }],
    ['that never expires', 'missing required "exp"', { claims: { exp: undefined } }],
    ['that begins later', '"nbf" claim', { claims: { nbf: T + CLOCK_SKEW_S + 1 } }],
    ['of nobody', 'missing required "sub"', { claims: { sub: undefined } }],
    [
      'of an empty name',
      'subject (`sub`) of the token is not a valid name',
      { claims: { sub: '' } },
    ],
    ['of a name with a line break', 'subject (`sub`)', { claims: { sub: 'a\nb' } }],
    ['with a key that is not known', 'no applicable key', { header: { kid: 'k2' } }],
    ['low: whose subject is a list', 'subject (`sub`)', { claims: { sub: ['ann'] } }],
    ['low: whose audience is an object', '`aud`', { claims: { aud: { 0: GATE, length: 1 } } }],
    ['low: whose audience lists another list', '`aud`', { claims: { aud: [[GATE]] } }],
    ['whose issuer is a list', 'issuer of the token is not', { claims: { iss: [issuer] } }],
    ['with too many groups', 'more than', { claims: { roles: Array(65).fill('x') } }],
  ])('%s is refused', async (name, message, made) => {
    const token = await make(name === 'of another key' ? { by: other } : made)
    expect(await refusal(token)).toMatchObject({
      error: 'invalid_token',
      message: expect.stringContaining(message),
    })
  })

  test('without a signature, or signed with the public key as a secret, is refused', async () => {
    const none = new UnsecuredJWT({ iss: issuer, sub: 'ann', aud: GATE, exp: T + 60, scope: 'mcp' })
    const secret = new TextEncoder().encode(JSON.stringify(publicJwk))
    const hmac = await make({ by: secret, header: { alg: 'HS256' } })
    for (const token of [none.encode(), hmac, `${(await make()).slice(0, -4)}AAAA`, 'a.b.c', 'x'])
      expect(await refusal(token)).toMatchObject({ error: 'invalid_token' })
  })

  test('signed with an algorithm that is not configured is refused', async () => {
    expect(await refusal(await make(), tokensOf({ algorithms: ['RS256'] }))).toMatchObject({
      error: 'invalid_token',
    })
  })

  test('without a required scope is refused as such', async () => {
    expect(await refusal(await make({ claims: { scope: 'openid' } }))).toMatchObject({
      error: 'insufficient_scope',
    })
    const other = await make({ claims: { scope: undefined, scp: ['mcp'] } })
    await expect(tokens.check(other, AUDIENCES)).resolves.toBeDefined()
  })

  test('for an additional configured audience is accepted', async () => {
    const named = tokensOf({ audience: 'api://gate' })
    await expect(
      named.check(await make({ claims: { aud: 'api://gate' } }), []),
    ).resolves.toBeDefined()
  })

  test('that was verified is checked again for each audience, and after it has expired', async () => {
    const token = await make()
    await tokens.check(token, AUDIENCES)
    await expect(tokens.check(token, ['https://gate.example.com/mcp/b'])).rejects.toThrow('another')
    nowS = T + 61 + CLOCK_SKEW_S
    await expect(tokens.check(token, AUDIENCES)).rejects.toThrow('expired')
  })
})

describe('keys', () => {
  test('are fetched once, and an unknown key does not fetch them repeatedly', async () => {
    const odd = await make({ header: { kid: 'k2' } })
    for (let turn = 0; turn < 5; turn++) {
      await tokens.check(await make({ claims: { jti: turn } }), AUDIENCES)
      await refusal(odd)
    }
    expect(asked.filter((path) => path === '/keys')).toHaveLength(1)
  })

  test.each([
    ['are none', 'nonsense'],
    ['are too many', JSON.stringify({ keys: [], rest: 'x'.repeat(FETCH_BYTES_MAX) })],
  ])(
    'that %s let nobody in, are the fault of the gate, and are left alone for a while',
    async (_, message) => {
      answer = message
      const token = await make()
      for (let turn = 0; turn < 3; turn++)
        expect(await refusal(token)).toMatchObject({ isFault: true, error: undefined })
      expect(asked.filter((path) => path === '/keys')).toHaveLength(1)
      answer = JSON.stringify({ keys: [publicJwk] })
      nowS += FAILED_FETCH_REST_MS / 1_000
      await expect(tokens.check(token, AUDIENCES)).resolves.toBeDefined()
    },
  )

  test('low: an unknown kid does not evict cached keys while the issuer cannot be reached', async () => {
    await tokens.check(await make(), AUDIENCES)
    answer = 'nonsense'
    nowS = T + KEYS_COOLDOWN_MS / 1_000
    const exp = nowS + 60
    for (let turn = 0; turn < 3; turn++) {
      const unknown = await make({ claims: { exp }, header: { kid: `k${turn + 2}` } })
      expect(await refusal(unknown)).toMatchObject({ isFault: true })
      const right = await make({ claims: { exp, jti: turn } })
      await expect(tokens.check(right, AUDIENCES)).resolves.toBeDefined()
    }
    expect(asked.filter((path) => path === '/keys')).toHaveLength(2)
  })

  test('of metadata that names another issuer are not accepted: mix-up', async () => {
    const wrong = tokensOf({ issuer: `${issuer}/` })
    const token = await make({ claims: { iss: `${issuer}/` } })
    expect(await refusal(token, wrong)).toMatchObject({ isFault: true })
  })
})
