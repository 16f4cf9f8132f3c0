// Signing in with a token of an authorisation server: keys over HTTP, real signatures. Roles come from
// the token's groups alone, and a token that an agent calls with is none for this.

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { AccessTokenVerifier } from '@sluice/access/identity/callers/access-token-verifier'
import { ALGORITHMS, type Issuer } from '@sluice/access/identity/callers/issuer'
import { ROLES } from '@sluice/access/identity/person'
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { verifyExternalPerson } from './external-people.ts'

const BASE = 'https://gate.example.com'
const NOW_S = 1_800_000_000
let server: Server
let key: CryptoKey
let corp: Issuer
let tokens: AccessTokenVerifier

beforeAll(async () => {
  const pair = await generateKeyPair('ES256')
  key = pair.privateKey
  const jwk = { ...(await exportJWK(pair.publicKey)), kid: 'k1', alg: 'ES256' }
  server = createServer((_, response) => response.end(JSON.stringify({ keys: [jwk] })))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  corp = {
    name: 'corp',
    issuer,
    jwks: `${issuer}/keys`,
    policy: 'p',
    audience: 'api://gate',

    scopes: [],
    groups: 'groups',
    algorithms: ALGORITHMS,
    sessions: { max: 1, windowMs: 3_600_000 },
    explain: false,
    roles: { approver: ['ops', 'leads'], admin: ['security'] },
    admins: ['root-of-trust'],
  }
  tokens = new AccessTokenVerifier([corp], () => NOW_S * 1_000)
})
afterAll(() => server.close())

function make(claims: Record<string, unknown>): Promise<string> {
  const all = { iss: corp.issuer, sub: 'ann', aud: `${BASE}/api`, exp: NOW_S + 60, ...claims }
  return new SignJWT(all).setProtectedHeader({ alg: 'ES256', kid: 'k1' }).sign(key)
}

const enter = async (claims: Record<string, unknown>) =>
  verifyExternalPerson([corp], tokens, await make(claims), BASE)

test('groups of the token become roles, until it ends', async () => {
  expect(await enter({ groups: ['ops', 'other'] })).toEqual({
    person: {
      name: 'corp:ann',
      kind: 'person',
      roles: ['approver'],
      groups: ['ops', 'other'],
      owns: ['corp:ann'],
      proof: 'token',
    },
    untilMs: (NOW_S + 60) * 1_000,
  })
  const { person } = await enter({ groups: ['security', 'leads'] })
  expect(person.roles).toEqual(['approver', 'admin'])
})

test('F5: the first administrator can be declared by subject, and no other subject is one', async () => {
  const { person } = await enter({ sub: 'root-of-trust' })
  expect(person).toMatchObject({ name: 'corp:root-of-trust', roles: ROLES })
  await expect(enter({ sub: 'root-of-trus' })).rejects.toMatchObject({ code: 'API_ROLE' })
  await expect(enter({ groups: ['root-of-trust'] })).rejects.toMatchObject({ code: 'API_ROLE' })
})

test('no match, no entry; and no token for anything but this page', async () => {
  await expect(enter({ groups: ['visitors'] })).rejects.toMatchObject({ code: 'API_ROLE' })
  await expect(enter({})).rejects.toMatchObject({ code: 'API_ROLE' })
  for (const aud of [`${BASE}/mcp`, `${BASE}/mcp/notes`, 'api://gate', `${BASE}/api/`])
    await expect(enter({ groups: ['ops'], aud })).rejects.toMatchObject({ code: 'API_SIGN_IN' })
  await expect(enter({ groups: ['ops'], exp: NOW_S - 60 })).rejects.toThrow('expired')
})
