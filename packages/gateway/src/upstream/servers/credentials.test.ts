// Credentials without a network: what a caller lacks is said before anybody is asked for a token.

import { type Caller, NOBODY } from '@sluice/access/identity/callers/caller'
import type { Issuer } from '@sluice/access/identity/callers/issuer'
import { IssuerMetadata } from '@sluice/access/identity/oauth/issuer-metadata'
import { Logins } from '@sluice/access/identity/oauth/logins'
import { afterAll, expect, test } from 'vitest'
import { fileScratchDirectory } from '../../../../../test/support/scratch.ts'
import type { LoginConfig } from '../../config/login.ts'
import { Credentials } from './credentials.ts'
import { obtainToken } from './obtain-token.ts'

const folder = fileScratchDirectory()
const logins = Logins.open(folder)
afterAll(() => {
  logins.close()
})

const url = 'https://crm.example/mcp'
const principal = { ...NOBODY.principal, id: 'corp:ann' }
const subject = () => ({ token: 't', issuer: 'corp' })
const credentialOf = (login: LoginConfig, caller: Caller) =>
  new Credentials({ logins, issuers: [], nowMs: Date.now, log() {} }).of(
    'crm',
    { url, login },
    caller,
  )

test('an agent that runs on after the token of its caller has ended gets no token, and not the last one', () => {
  const login: LoginConfig = { kind: 'exchange', via: 'corp', scopes: [], resource: url }
  let holds = true
  const caller: Caller = { ...NOBODY, principal, subject, holds: () => holds }
  const credential = credentialOf(login, caller)
  const row = { url, resource: url, issuer: 'https://i', tokenEndpoint: 'https://i/token' }
  const client = { clientId: 'gate', clientAuth: 'none', accessToken: 'last' } as const
  logins.put(credential.target.of, { ...row, ...client }, 0)
  expect([credential.failure, credential.header]).toEqual([undefined, 'Bearer last'])
  holds = false
  expect(credential.ready()).toBeUndefined()
  expect(credential.failure).toMatchObject({
    code: 'UPSTREAM_NEEDS_LOGIN',
    message: 'the server `crm` wants a token of `corp`, and `corp:ann` came with none that holds',
  })
})

test('a token of another issuer than `via` is not exchanged', () => {
  const login: LoginConfig = { kind: 'exchange', via: 'other', scopes: [], resource: url }
  const credential = credentialOf(login, { ...NOBODY, principal, subject })
  expect(credential.ready()).toBeUndefined()
  expect(credential.failure?.message).toContain('wants a token of `other`')
})

test('nobody is asked without the issuer that `via` names, or with an identity that has ended', async () => {
  const login: LoginConfig = { kind: 'id-jag', via: 'corp', scopes: [], resource: url }
  const identity = () => ({ idToken: async () => undefined })
  const metadata = new IssuerMetadata(Date.now)
  const options = { login, url, caller: NOBODY, metadata, identity, nowMs: Date.now }
  await expect(obtainToken({ ...options, via: undefined })).rejects.toThrow(
    'no issuer is called `corp` since the start',
  )
  const via = { name: 'corp', issuer: 'https://id.example' } as Issuer
  await expect(obtainToken({ ...options, via })).rejects.toThrow('the identity at `corp` has ended')
})

test('a message that was sent before there was a login is sent with it, and no refresh token is used up', async () => {
  const credential = credentialOf({ kind: 'gate', scopes: [] }, NOBODY)
  expect(await credential.refused(undefined)).toBe(false)
  // Nobody answers there.
  const row = { url, resource: url, issuer: 'http://i', tokenEndpoint: 'http://127.0.0.1:1/token' }
  const client = { clientId: 'gate', clientAuth: 'none', refreshToken: 'once' } as const
  logins.put(credential.target.of, { ...row, ...client, accessToken: 'first' }, 0)
  expect(await credential.refused(undefined)).toBe(true)
  expect(credential.header).toBe('Bearer first')
  expect(await credential.refused('Bearer first')).toBe(false)
})
