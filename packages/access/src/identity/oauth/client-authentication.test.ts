// How the gate proves that it is a client: assertions that nobody can use twice, and keys that are none.

import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { jwtVerify } from 'jose'
import { expect, test } from 'vitest'
import { rounds } from '../../../../../test/support/runs.ts'
import { authenticateClient, pickAuthMethod } from './client-authentication.ts'

const clientWith = (privateKey: string) => ({
  clientId: 'gate',
  clientAuth: 'private_key_jwt' as const,
  issuer: 'https://id.example',
  tokenEndpoint: 'https://id.example/token',
  privateKey,
  keyId: 'k1',
})
const assert = async (privateKey: string): Promise<string> => {
  const body = new URLSearchParams()
  await authenticateClient(clientWith(privateKey), body, Date.now())
  return body.get('client_assertion') ?? ''
}
const pem = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }).toString()

const MANY = rounds(1_000)

test('each of many assertions has an id of its own, is for the issuer, and ends within a minute', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const text = pem(privateKey)
  const ids = new Set<unknown>()
  for (let made = 0; made < MANY; made++) {
    const options = { audience: 'https://id.example', issuer: 'gate', subject: 'gate' }
    const { payload, protectedHeader } = await jwtVerify(await assert(text), publicKey, options)
    ids.add(payload.jti)
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBeLessThanOrEqual(60)
    expect(protectedHeader).toMatchObject({ alg: 'ES256', kid: 'k1' })
  }
  expect(ids.size).toBe(MANY)
})

test.each([
  ['RS256', () => pem(generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey)],
  ['EdDSA', () => pem(generateKeyPairSync('ed25519').privateKey)],
  [
    'ES384',
    () => {
      const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-384' })
      return JSON.stringify(privateKey.export({ format: 'jwk' }))
    },
  ],
])('a key of %s, as PEM or JWK, signs with it', async (alg, make) => {
  const [head = ''] = (await assert(make())).split('.')
  expect(JSON.parse(Buffer.from(head, 'base64url').toString()).alg).toBe(alg)
})

test('what is no key is refused without being quoted', async () => {
  const wrong = 'the `private_key` of the client `gate` is not a PEM or JWK'
  await expect(assert('hunter2')).rejects.toThrow(wrong)
  await expect(assert('{"kty":"hunter2"}')).rejects.toThrow(wrong)
})

test('a secret is sent as the server takes it', () => {
  const secret = { clientSecret: 's' }
  expect(pickAuthMethod(secret, [])).toBe('client_secret_basic')
  expect(pickAuthMethod(secret, ['client_secret_post'])).toBe('client_secret_post')
  expect(pickAuthMethod({}, ['client_secret_basic'])).toBe('none')
})
