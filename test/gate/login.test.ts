// Upstream login from end to end: a real authorisation server, a real MCP server that checks the token,
// the real command and the real gate. The browser is an HTTP client that keeps cookies.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Logins } from '../../packages/access/src/identity/oauth/logins.ts'
import { askGate } from '../../packages/cli/src/connect/gate-socket.ts'
import { type AuthorisationServer, SHOP, serveAuthorisation } from '../servers/authorisation.ts'
import { type GuardedServer, serveGuarded } from '../servers/guarded.ts'
import { browse } from '../support/browse.ts'
import { makePerson, PIN, runAtTerminal } from '../support/person.ts'
import { PlainClient } from '../support/plain-client.ts'
import { sendRaw } from '../support/raw-http.ts'
import { endGates, type RunningGate, startGate, until } from '../support/start-gate.ts'

let authorisation: AuthorisationServer
let server: GuardedServer
let gate: RunningGate

beforeAll(async () => {
  authorisation = await serveAuthorisation()
  server = await serveGuarded(authorisation.issuer)
  gate = await startGate({
    servers: {
      desk: { url: server.url, auth: 'login' },
      own: { url: server.url, auth: { login: 'principal' } },
      shop: { url: server.url, auth: shopWith(SHOP.secret) },
      plain: { url: server.url },
    },
  })
  await makePerson(gate.data)
})
afterAll(async () => {
  await endGates()
  await server.close()
  await authorisation.close()
})

const shopWith = (secret: string) => ({
  login: 'gate',
  issuer: authorisation.issuer,
  client_id: SHOP.id,
  client_secret: secret,
})

async function login(args: string[], visit: (address: string) => Promise<unknown>) {
  const command = ['login', ...args, '--json', '--config', join(gate.folder, 'sluice.yaml')]
  let open: string | undefined
  const closed = runAtTerminal(command, [PIN], (text) => {
    open ??= /"open":"([^"]+)"/.exec(text)?.[1]
  })
  await Promise.race([closed, until(() => open !== undefined)])
  if (open !== undefined) await visit(open)
  const { code, text } = await closed
  return { code, out: text }
}

const refreshes = (): number => authorisation.seen.filter((path) => path === 'POST /token').length

/** In the order they stand: a login, and what becomes of it. */
describe('a server that wants a login', () => {
  let client: PlainClient

  test('is "needs login", and names the command', async () => {
    const refused = new PlainClient(gate, 'desk')
    const { answer } = await refused.initialize()
    expect(answer.error.message).toContain('wants a login (401); run `sluice login desk`')
    expect(answer.error.data['sluice/upstream'].code).toBe('UPSTREAM_NEEDS_LOGIN')
    const own = await new PlainClient(gate, 'own').initialize()
    expect(own.answer.error.message).toContain('run `sluice login own --principal local`')
    const login = '"fails":"the server `desk` wants a login (401): run `sluice login desk`"'
    const status = () => askGate(gate.data, { do: 'status' })
    await until(async () => JSON.stringify(await status()).includes(login))
  })

  test('is logged in at, in a browser, and called with a token of its own', async () => {
    const { code, out } = await login(['desk'], async (open) => {
      const asked = new URL(open).searchParams
      expect(asked.get('code_challenge_method')).toBe('S256')
      expect(asked.get('resource')).toBe(server.url)
      expect(asked.get('redirect_uri')).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/)
      const redirect = new URL(asked.get('redirect_uri') ?? '')
      for (const wrong of ['?code=x', `?code=x&state=${'A'.repeat(43)}`, '?error=access_denied'])
        expect((await fetch(redirect.href + wrong)).status).toBe(404)
      const { url, status } = await browse(open)
      expect([status, url]).toEqual([200, expect.stringContaining(redirect.href)])
    })
    expect(code).toBe(0)
    expect(out).not.toMatch(/eyJ/)
    client = await PlainClient.open(gate, 'desk')
    expect((await client.call('get_note')).answer.result.content[0].text).toBe('a note')
    expect(server.shown.at(-1)).toMatch(/^Bearer eyJ/)
  })

  test('has its tokens in the data directory encrypted, and not in the log', () => {
    const token = server.shown.at(-1)?.slice(7, 60) ?? 'none'
    for (const name of readdirSync(gate.data)) {
      if (name.endsWith('.sock')) continue
      expect(readFileSync(join(gate.data, name)).includes(token)).toBe(false)
    }
    expect(gate.log).not.toContain(token)
  })

  test('that refuses the token gets the request once more, with a new one', async () => {
    const old = server.shown.at(-1) ?? ''
    server.refused.add(old)
    const before = refreshes()
    expect((await client.call('get_note')).answer.result.content[0].text).toBe('a note')
    expect(server.shown.slice(-2)[0]).toBe(old)
    expect(server.shown.at(-1)).not.toBe(old)
    expect(refreshes()).toBe(before + 1)
  })

  test('has a token renewed ahead of its end, without anybody waiting for it', async () => {
    authorisation.lifeS = 8
    server.refused.add(server.shown.at(-1) ?? '')
    await client.call('get_note')
    const short = server.shown.at(-1)
    authorisation.lifeS = 3_600
    await until(async () => {
      await client.call('get_note')
      return server.shown.at(-1) !== short
    })
    const before = refreshes()
    await client.call('get_note')
    expect(refreshes()).toBe(before)
  })

  test('stays logged in through an outage, and any refusal that is not of the login itself', async () => {
    const refusals: [status: number, body: string][] = [
      [401, '{"error":"invalid_client"}'],
      [400, '{"error":"invalid_scope"}'],
      [400, '{"error":"temporarily_unavailable"}'],
      [400, 'no JSON'],
      [503, '{"error":"invalid_grant"}'],
    ]
    const outages: NonNullable<AuthorisationServer['outage']>[] = [
      ...refusals.map(([status, body]) => (response: ServerResponse) => {
        response.writeHead(status, { 'content-type': 'application/json' }).end(body)
      }),
      (response) => void response.destroy(),
    ]
    for (const outage of outages) {
      authorisation.outage = outage
      server.refused.add(server.shown.at(-1) ?? '')
      const { answer } = await client.call('get_note')
      expect(answer.error.data['sluice/upstream'].code).toBe('UPSTREAM_NEEDS_LOGIN')
      expect(answer.error.message).toContain('the login is stored and could not be renewed')
      authorisation.outage = undefined
      expect((await client.call('get_note')).answer.result?.content[0].text).toBe('a note')
    }
  })

  test('whose login is forgotten is "needs login" again, in the same session', async () => {
    expect((await login(['desk', '--forget'], async () => {})).code).toBe(0)
    const { answer } = await client.call('get_note')
    expect(answer.error.message).toContain('run `sluice login desk`')
    expect(server.shown.at(-1)).toBeUndefined()
  })

  test('has one for each principal, where that is said', async () => {
    const { code } = await login(['own', '--principal', 'local'], browse)
    expect(code).toBe(0)
    const own = await PlainClient.open(gate, 'own')
    expect((await own.call('get_note')).answer.result.content[0].text).toBe('a note')
    const refused = new PlainClient(gate, 'desk')
    expect((await refused.initialize()).answer.error.message).toContain('wants a login')
  })

  test('is not logged in at where a person refuses, another answers (mix-up), or it wants none', async () => {
    const answer = (params: Record<string, string>) => async (open: string) => {
      const asked = new URL(open).searchParams
      // Finding: a request for what is no URL, as any page can make it, ended the command.
      const stray = 'GET // HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
      expect(await sendRaw(asked.get('redirect_uri') ?? '', stray)).toMatch(/^HTTP\/1.1 404 /)
      const all = { state: asked.get('state') ?? '', iss: authorisation.issuer, ...params }
      await fetch(`${asked.get('redirect_uri')}?${new URLSearchParams(all)}`)
    }
    const { port } = new URL(server.url)
    const [refused, mixedUp, plain, taken] = await Promise.all([
      login(['desk'], answer({ error: 'access_denied' })),
      login(['desk'], answer({ code: 'stolen', iss: 'https://evil.example' })),
      login(['plain'], async () => {}),
      login(['desk', '--redirect-port', port], async () => {}),
    ])
    expect([refused.code, refused.out]).toEqual([1, expect.stringContaining('access_denied')])
    expect([mixedUp.code, mixedUp.out]).toEqual([1, expect.stringContaining('evil.example')])
    expect([plain.code, plain.out]).toEqual([2, expect.stringContaining('say `auth: login`')])
    expect([taken.code, taken.out]).toEqual([2, expect.stringContaining(`EADDRINUSE`)])
    expect(taken.out).toContain('say another --redirect-port')
  })

  test('is called with a secret of its client that was rotated, without another login', async () => {
    const file = join(gate.folder, 'sluice.yaml')
    expect((await login(['shop'], browse)).code).toBe(0)
    const before = await PlainClient.open(gate, 'shop')
    expect((await before.call('get_note')).answer.result.content[0].text).toBe('a note')
    await authorisation.rotate('the second secret of the shop')
    server.refused.add(server.shown.at(-1) ?? '')
    const early = await before.call('get_note')
    expect(early.answer.error.message).toContain('the login is stored and could not be renewed')
    expect(gate.log).toContain('invalid_client')
    const config = JSON.parse(readFileSync(file, 'utf8'))
    config.servers.shop.auth = shopWith('the second secret of the shop')
    writeFileSync(file, JSON.stringify(config))
    await until(() => gate.log.includes('sluice server accept shop'))
    const accept = ['server', 'accept', 'shop', '--config', file]
    expect(await runAtTerminal(accept, [PIN])).toMatchObject({ code: 0 })
    const after = await PlainClient.open(gate, 'shop')
    expect((await after.call('get_note')).answer.result.content[0].text).toBe('a note')
  })

  test('has its login removed when the authorisation server has revoked it', async () => {
    const client = await PlainClient.open(gate, 'shop')
    expect((await client.call('get_note')).answer.result.content[0].text).toBe('a note')
    const of = { server: 'shop', principal: '' }
    const logins = Logins.open(gate.data)
    const { refreshToken = '', clientSecret } = logins.get(of) ?? {}
    // The secret of a configured client is in the configuration, and nowhere else.
    expect(clientSecret).toBeUndefined()
    const pair = [SHOP.id, 'the second secret of the shop'].map(encodeURIComponent).join(':')
    const revoked = await fetch(`${authorisation.issuer}/token/revocation`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(pair)}` },
      body: new URLSearchParams({ token: refreshToken }),
    })
    expect(revoked.status).toBe(200)
    server.refused.add(server.shown.at(-1) ?? '')
    const { answer } = await client.call('get_note')
    expect(answer.error.message).toContain('run `sluice login shop`')
    expect(gate.log).toContain('invalid_grant')
    expect(logins.get(of)).toBeUndefined()
    logins.close()
  })
})
