// Who gets through to a row of the table, and with what: sign-in by code and passkey, roles, origins,
// and the proof that is bound to one request. Real HTTP, real signatures.

import type { Server } from 'node:http'
import { ApprovalLinks } from '@sluice/access/identity/keys/approval-links'
import { InstallationKey } from '@sluice/access/identity/keys/installation-key'
import { Passkeys } from '@sluice/access/identity/people/passkeys'
import { People } from '@sluice/access/identity/people/people'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { fileScratchDirectory } from '../../../test/support/scratch.ts'
import { listen, Page, personCalled, TEST_PIN_COST } from './admin.test-support.ts'
import { endpoint } from './http/endpoint.ts'
import { EventStreamResponse, type Feed } from './http/events.ts'
import { CHALLENGES_MAX, STREAMS_PER_PERSON_MAX } from './http/limits.ts'
import { openApiOf } from './http/openapi.ts'
import { Router } from './router.ts'
import { Challenges } from './sign-in/challenges.ts'
import { signInEndpoints } from './sign-in/sign-in-endpoints.ts'
import { SignIns } from './sign-in/sign-ins.ts'

const PIN = '271828'
const folder = fileScratchDirectory()
const people = People.open(folder, { pinCost: TEST_PIN_COST })
const passkeys = new Passkeys(people)
let nowMs = 1_800_000_000_000
const clock = () => nowMs
const links = new ApprovalLinks(InstallationKey.at(folder))
const challenges = new Challenges(passkeys, clock)
const signIns = new SignIns(people, clock)
const done: unknown[] = []
const feeds: Feed[] = []
const recorded: string[] = []
let origin = ''
let server: Server
let router: Router

beforeAll(async () => {
  const rpOf = () => ({ id: 'localhost', origin })
  const endpoints = [
    ...signInEndpoints({
      people,
      passkeys,
      challenges,
      signIns,
      rpOf,
      issuers: [],
      nowMs: clock,
      links,
      guestOf: nobody,
      isOtherUser: async () => false,
      elsewhere: { begin: nobody, finish: nobody },
      provePin: async (name, pin) => {
        await people.prove({ name, pin }, nowMs)
      },
      record: async (how, name) => void recorded.push(`${how} ${name}`),
    }),
    endpoint('POST /api/things/:id', {
      role: 'approver',
      proof: true,
      summary: 'decides',
      input: {
        verdict: { shape: { kind: 'word', words: ['yes', 'no'] }, doc: 'which', required: true },
      },
      handle: ({ input, person }) => {
        done.push([input.id, input.verdict, person.name, person.proof])
        return { done: true }
      },
    }),
    endpoint('GET /api/things', {
      role: 'viewer',
      summary: 'lists',
      input: { limit: { shape: { kind: 'integer', min: 1, max: 10 }, doc: 'so many' } },
      handle: ({ input: { limit = 5 } }) => ({ limit }),
    }),
    endpoint('GET /api/things/watch', {
      role: 'viewer',
      summary: 'watches',
      handle: ({ lastEventId }) =>
        new EventStreamResponse((feed) => {
          feed.send('thing', { after: lastEventId ?? null }, '7')
          feeds.push(feed)
          return () => done.push('unwatched')
        }),
    }),
  ]
  router = new Router({ endpoints, signIns, challenges, rpOf })
  const started = await listen((request, response) => void router.serve(request, response))
  server = started.server
  origin = started.origin
  await people.add(personCalled('ann', 'admin'), { pin: PIN }, nowMs)
  await people.add(personCalled('vic', 'viewer'), { pin: PIN }, nowMs)
})

beforeEach(() => {
  done.length = 0
  nowMs += 24 * 3_600_000
})

afterAll(() => {
  router.close()
  server.close()
  people.close()
})

async function nobody(): Promise<never> {
  throw new Error('nobody')
}

async function pageOf(name: string): Promise<Page> {
  const page = new Page(origin)
  await page.signIn(signIns.makeCode(name, 'pin', 60_000))
  return page
}

test('A3: a restart signs nobody out who can be recognised, and brings nobody back', async () => {
  await people.add(personCalled('rob', 'viewer'), { pin: PIN }, nowMs)
  const [ann, rob] = [await pageOf('ann'), await pageOf('rob')]
  const again = new SignIns(people, clock)
  expect(again.who(ann.token).person).toMatchObject({ name: 'ann', roles: ['admin'], proof: 'pin' })
  // Removed while no gate ran, and another of the same name.
  people.remove('rob')
  await people.add(personCalled('rob', 'viewer'), { pin: PIN }, nowMs + 1)
  expect(() => again.who(rob.token)).toThrow('not known here')
  people.remove('rob')
  // From an authorisation server, as long as it gives the same roles.
  const guest = { ...personCalled('corp:7', 'viewer'), proof: 'oauth' as const }
  const roles = { viewer: ['staff'] }
  const { token } = new SignIns(people, clock, [{ roles }]).begin(guest, nowMs + 1_000)
  expect(new SignIns(people, clock, [{ roles }]).who(token).person).toEqual(guest)
  expect(() => new SignIns(people, clock).who(token)).toThrow('not known here')
  // By a clock that was set back its end would never come.
  nowMs -= 24 * 3_600_000
  expect(() => again.who(ann.token)).toThrow('not known here')
  nowMs += 24 * 3_600_000
  again.end(ann.token as string)
  expect(() => new SignIns(people, clock).who(ann.token)).toThrow('not known here')
})

test('a code signs in once, and only in time', async () => {
  const code = signIns.makeCode('ann', 'pin', 60_000)
  const page = new Page(origin)
  const { status, body } = await page.signIn(code)
  expect(status).toBe(200)
  expect(body.me).toMatchObject({ name: 'ann', proof: 'pin', hasPin: true, mayProve: false })
  expect((await page.ask('GET', '/api/me')).body.name).toBe('ann')
  expect((await new Page(origin).signIn(code)).status).toBe(401)
  const late = signIns.makeCode('ann', 'pin', 60_000)
  nowMs += 60_000
  expect((await new Page(origin).signIn(late)).status).toBe(401)
  await page.ask('DELETE', '/api/sign-in')
  expect((await page.ask('GET', '/api/me')).status).toBe(401)
})

test('a passkey needs the PIN to be added, signs in, and proves one request', async () => {
  const page = await pageOf('ann')
  expect((await page.addPasskey()).body.error.code).toBe('API_PROOF')
  expect((await page.addPasskey('000001')).body.error.code).toBe('API_REFUSED')
  expect((await page.addPasskey(PIN)).status).toBe(200)
  expect(recorded).toEqual(['passkey added ann'])
  expect((await page.signInWithPasskey()).body.me).toMatchObject({ proof: 'passkey' })
  const { status } = await page.prove('POST', '/api/things/1', { verdict: 'yes' })
  expect(status).toBe(200)
  expect(done).toEqual([['1', 'yes', 'ann', 'passkey']])
})

test('a proof is for one request, one body, one time, one person', async () => {
  const page = await pageOf('ann')
  await page.addPasskey(PIN)
  const path = '/api/things/1'
  const text = '{"verdict":"no"}'
  const request = { method: 'POST', path, body: text }
  const challenge = async () => (await page.ask('POST', '/api/proofs', request)).body.challenge
  const send = (to: string, body: string, proof: Record<string, string>) =>
    page.ask('POST', to, body, proof)
  expect((await send(path, text, {})).body.error.code).toBe('API_PROOF')
  const other = page.proofOf(await challenge())
  expect((await send(path, '{"verdict":"yes"}', other)).status).toBe(403)
  expect((await send(path, text, other)).status).toBe(403)
  expect((await send('/api/things/2', text, page.proofOf(await challenge()))).status).toBe(403)
  page.key.isVerified = false
  expect((await send(path, text, page.proofOf(await challenge()))).status).toBe(403)
  page.key.isVerified = true
  const foreign = Buffer.from(
    JSON.stringify(page.key.assert(await challenge(), 'http://evil.example')),
  ).toString('base64')
  expect((await send(path, text, { 'sluice-proof': foreign })).status).toBe(403)
  const late = page.proofOf(await challenge())
  nowMs += 3 * 60_000
  expect((await send(path, text, late)).status).toBe(403)
  expect(done).toEqual([])
  const good = page.proofOf(await challenge())
  expect((await send(path, text, good)).status).toBe(200)
  expect((await send(path, text, good)).status).toBe(403)
  expect(done).toHaveLength(1)
  // A copy of the key: its counter is behind.
  const back = await challenge()
  page.key.counter -= 1
  expect((await send(path, text, page.proofOf(back))).body.error.message).toContain('counter')
  expect(done).toHaveLength(1)
})

test('without a token, with a viewer’s, from another origin: refused', async () => {
  const nobody = new Page(origin)
  expect((await nobody.ask('GET', '/api/things')).body.error.code).toBe('API_SIGN_IN')
  nobody.token = `sluice_in_${'A'.repeat(43)}`
  expect((await nobody.ask('GET', '/api/things')).status).toBe(401)
  const viewer = await pageOf('vic')
  expect((await viewer.ask('GET', '/api/things?limit=7')).body).toEqual({ limit: 7 })
  expect((await viewer.ask('POST', '/api/things/1', { verdict: 'yes' })).body.error.code).toBe(
    'API_ROLE',
  )
  for (const headers of [
    { origin: 'http://localhost:1' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ])
    expect((await viewer.ask('GET', '/api/things', undefined, headers)).body.error.code).toBe(
      'API_ORIGIN',
    )
  people.remove('vic')
  expect((await viewer.ask('GET', '/api/things')).status).toBe(401)
})

test('another PIN signs out, and so does another person of the same name', async () => {
  await people.add(personCalled('cat', 'viewer'), { pin: PIN }, nowMs)
  const page = await pageOf('cat')
  expect((await page.ask('GET', '/api/me')).status).toBe(200)
  await people.setPin('cat', '314159', nowMs + 1)
  expect((await page.ask('GET', '/api/me')).status).toBe(401)
  const again = await pageOf('cat')
  const code = signIns.makeCode('cat', 'pin', 60_000)
  people.remove('cat')
  await people.add(personCalled('cat', 'admin'), {}, nowMs + 2)
  expect((await again.ask('GET', '/api/me')).status).toBe(401)
  expect((await new Page(origin).signIn(code)).status).toBe(401)
})

test('a flood of challenges of one person pushes out nobody else’s', async () => {
  const page = await pageOf('ann')
  await page.addPasskey(PIN)
  const text = '{"verdict":"no"}'
  const request = { method: 'POST', path: '/api/things/3', body: text }
  const { body } = await page.ask('POST', '/api/proofs', request)
  const rp = { id: 'localhost', origin }
  for (let at = 0; at <= CHALLENGES_MAX; at += 1) await challenges.forRegistration('vic', rp)
  const { status } = await page.ask('POST', request.path, text, page.proofOf(body.challenge))
  expect(status).toBe(200)
})

test('a flood of challenges that anyone may ask for pushes out nobody’s proof', async () => {
  const page = await pageOf('ann')
  await page.addPasskey(PIN)
  const request = { method: 'POST', path: '/api/things/5', body: '{"verdict":"yes"}' }
  const { challenge } = (await page.ask('POST', '/api/proofs', request)).body
  for (let time = 0; time < 1_100; time++) await challenges.forSignIn({ id: 'localhost', origin })
  const sent = await page.ask('POST', request.path, request.body, page.proofOf(challenge))
  expect(sent.status).toBe(200)
})

test('a link is for one approver, for a while, and signs nobody in', async () => {
  await people.add(personCalled('bob', 'approver'), {}, nowMs)
  const untilMs = nowMs + 60_000
  const link = links.token({ approval: 'r1', approver: 'bob', untilMs })
  const page = new Page(origin)
  await page.signIn(signIns.makeCode('bob', 'client', 60_000))
  expect((await page.addPasskey()).status).toBe(200)
  page.token = undefined
  const opened = await page.ask('POST', '/api/links', { link })
  expect(opened.body).toMatchObject({ approval: 'r1', approver: 'bob' })
  expect(opened.body.token).toBeUndefined()
  const ann = await pageOf('ann')
  await ann.addPasskey(PIN)
  const stolen = ann.key.assert(opened.body.challenge)
  expect((await page.ask('POST', '/api/sign-in', { assertion: stolen })).status).toBe(401)
  const again = (await page.ask('POST', '/api/links', { link })).body.challenge
  const signed = await page.ask('POST', '/api/sign-in', { assertion: page.key.assert(again) })
  expect(signed.body.me).toMatchObject({ name: 'bob', proof: 'passkey' })
  const forged = `${link.slice(0, -4)}AAAA`
  for (const bad of [forged, 'sluice_link_', link.replace('_link_', '_code_')])
    expect((await page.ask('POST', '/api/links', { link: bad })).status).toBe(401)
  nowMs = untilMs
  expect((await page.ask('POST', '/api/links', { link })).status).toBe(401)
})

test('a system proves with its credential alone, and signs nobody in', async () => {
  const bot = { ...personCalled('bot', 'approver'), kind: 'system' as const }
  const { token } = await people.add(bot, { token: true }, nowMs)
  const page = new Page(origin)
  page.token = token ?? ''
  expect((await page.ask('POST', '/api/things/9', { verdict: 'no' })).status).toBe(200)
  expect(done).toEqual([['9', 'no', 'bot', 'token']])
  expect((await page.ask('POST', '/api/passkeys/challenge')).status).toBe(403)
})

test('what cannot be read is refused with what is wrong', async () => {
  const page = await pageOf('ann')
  expect((await page.ask('GET', '/api/nothing')).status).toBe(404)
  expect((await page.ask('DELETE', '/api/things')).status).toBe(405)
  expect((await page.ask('GET', '/api/things?limit=11')).status).toBe(400)
  const doubled = await page.ask('POST', '/api/proofs', '{"method":"POST","method":"PUT"}')
  expect(doubled.status).toBe(400)
  const odd = await page.ask('POST', '/api/sign-in', {})
  expect(odd.body.error).toMatchObject({ code: 'API_REQUEST' })
})

test('a stream begins where the last one ended, and ends with its page', async () => {
  const page = await pageOf('ann')
  const going = new AbortController()
  const response = await fetch(`${origin}/api/things/watch`, {
    headers: { authorization: `Bearer ${page.token}`, 'last-event-id': '6' },
    signal: going.signal,
  })
  const { value } = (await response.body?.getReader().read()) ?? {}
  expect(Buffer.from(value ?? []).toString()).toBe('id: 7\nevent: thing\ndata: {"after":"6"}\n\n')
  going.abort()
  await expect.poll(() => done).toEqual(['unwatched'])
})

test('finding: a stream tells nothing more to whoever has signed out', async () => {
  const page = await pageOf('ann')
  const response = await fetch(`${origin}/api/things/watch`, {
    headers: { authorization: `Bearer ${page.token}` },
  })
  const feed = feeds.at(-1) as Feed
  expect(feed.send('thing', { seen: true })).toBe(true)
  await page.ask('DELETE', '/api/sign-in')
  expect(feed.send('thing', { secret: true })).toBe(false)
  const text = await response.text()
  expect([text.includes('seen'), text.includes('secret')]).toEqual([true, false])
  await expect.poll(() => done).toEqual(['unwatched'])
})

test('finding: one person cannot take the streams of all others', async () => {
  await people.add(personCalled('mia', 'viewer'), { pin: PIN }, nowMs)
  const [page, other] = [await pageOf('mia'), await pageOf('ann')]
  const going = new AbortController()
  const watch = ({ token }: Page) =>
    fetch(`${origin}/api/things/watch`, {
      headers: { authorization: `Bearer ${token}` },
      signal: going.signal,
    })
  const all = await Promise.all(Array.from({ length: STREAMS_PER_PERSON_MAX }, () => watch(page)))
  expect(new Set(all.map(({ status }) => status))).toEqual(new Set([200]))
  const again = await pageOf('mia')
  const refused = await watch(again)
  expect([refused.status, await refused.json()]).toMatchObject([
    429,
    { error: { code: 'API_LIMIT', message: expect.stringContaining('`mia`') } },
  ])
  expect((await watch(other)).ok).toBe(true)
  going.abort()
  await expect.poll(() => done.length).toBe(STREAMS_PER_PERSON_MAX + 1)
  const after = new AbortController()
  const headers = { authorization: `Bearer ${again.token}` }
  const free = await fetch(`${origin}/api/things/watch`, { headers, signal: after.signal })
  expect(free.ok).toBe(true)
  after.abort()
  await expect.poll(() => done.length).toBe(STREAMS_PER_PERSON_MAX + 2)
})

test('the table describes itself', () => {
  const table = [
    endpoint('POST /api/things/:id', {
      role: 'approver',
      proof: true,
      summary: 'decides',
      input: { a: { shape: { kind: 'text', max: 10 }, doc: 'a', required: true } },
      handle: () => ({}),
    }),
  ]
  expect(openApiOf(table)).toMatchObject({
    openapi: '3.1.0',
    paths: {
      '/api/things/{id}': {
        post: {
          'x-role': 'approver',
          security: [{ signedIn: [], proof: [] }],
          parameters: [{ name: 'id', in: 'path' }],
        },
      },
    },
  })
})
