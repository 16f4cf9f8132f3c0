// Attacks on signing in to the console: by an agent that holds an access token, by another user of the
// machine who read a one-time code, by a flood of requests. Real HTTP, real signatures.

import type { Server } from 'node:http'
import { ApprovalLinks } from '@sluice/access/identity/keys/approval-links'
import { InstallationKey } from '@sluice/access/identity/keys/installation-key'
import { Passkeys } from '@sluice/access/identity/people/passkeys'
import { People } from '@sluice/access/identity/people/people'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { fileScratchDirectory } from '../../../../test/support/scratch.ts'
import { listen, Page, personCalled, TEST_PIN_COST } from '../admin.test-support.ts'
import { CHALLENGE_MS, CHALLENGES_MAX, GUEST_FRESH_MS } from '../http/limits.ts'
import { Router } from '../router.ts'
import { Challenges } from './challenges.ts'
import { signInEndpoints } from './sign-in-endpoints.ts'
import { SignIns } from './sign-ins.ts'

const PIN = '271828'
const folder = fileScratchDirectory()
const people = People.open(folder, { pinCost: TEST_PIN_COST })
const passkeys = new Passkeys(people)
let nowMs = 1_800_000_000_000
const clock = () => nowMs
const challenges = new Challenges(passkeys, clock)
const signIns = new SignIns(people, clock)
/** The one who asks is another user of the machine. */
let isStranger = false
let server: Server
let origin = ''

beforeAll(async () => {
  const rpOf = () => ({ id: 'localhost', origin })
  const endpoints = signInEndpoints({
    people,
    passkeys,
    challenges,
    signIns,
    rpOf,
    issuers: [],
    nowMs: clock,
    links: new ApprovalLinks(InstallationKey.at(folder)),
    isOtherUser: async () => isStranger,
    guestOf: nobody,
    elsewhere: { begin: nobody, finish: nobody },
    provePin: async (name, pin) => void (await people.prove({ name, pin }, nowMs)),
    record: async () => {},
  })
  const router = new Router({ endpoints, signIns, challenges, rpOf })
  ;({ server, origin } = await listen((request, response) => void router.serve(request, response)))
  await people.add(personCalled('ann', 'admin'), { pin: PIN }, nowMs)
})

beforeEach(() => {
  nowMs += 24 * 3_600_000
})

afterAll(() => {
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

test('finding: an access token alone adds no passkey; a fresh sign-in with a browser does', async () => {
  const add = (proof: 'oauth' | 'token', subject: string, afterMs = 0) => {
    const page = new Page(origin)
    const guest = { ...personCalled(`corp:${subject}`, 'admin'), proof }
    page.token = signIns.begin(guest, nowMs + 3_600_000).token
    nowMs += afterMs
    return page.addPasskey()
  }
  expect(await add('token', 'agent')).toMatchObject({
    status: 403,
    body: { error: { code: 'API_PROOF' } },
  })
  expect((await add('oauth', 'late', GUEST_FRESH_MS)).status).toBe(403)
  expect((await add('oauth', 'ann', GUEST_FRESH_MS - 1)).status).toBe(200)
  // The next one needs the first.
  expect((await add('oauth', 'ann')).body.error.message).toContain('needs another one')
})

test('finding: a code on the command line of a browser is no code for other users', async () => {
  const code = signIns.makeCode('ann', 'pin', 60_000, true)
  isStranger = true
  const thief = await new Page(origin).signIn(code)
  expect([thief.status, thief.body.error.help]).toEqual([401, expect.stringContaining('--no-open')])
  // One that was printed is for anyone who was told.
  expect((await new Page(origin).signIn(signIns.makeCode('ann', 'pin', 60_000))).status).toBe(200)
  isStranger = false
  expect((await new Page(origin).signIn(code)).status).toBe(200)
  expect((await new Page(origin).signIn(code)).status).toBe(401)
})

test('finding: a flood of challenges keeps nobody from signing in, and each signs in once', async () => {
  const rp = { id: 'localhost', origin }
  const page = await pageOf('ann')
  await page.addPasskey(PIN)
  const ask = async () => (await page.ask('POST', '/api/sign-in/challenge')).body.challenge
  const enter = (challenge: object) =>
    page.ask('POST', '/api/sign-in', { assertion: page.key.assert(challenge) })
  const challenge = await ask()
  for (let at = 0; at <= CHALLENGES_MAX; at += 1) await challenges.forSignIn(rp)
  expect((await enter(challenge)).body.me).toMatchObject({ name: 'ann', proof: 'passkey' })
  expect((await enter(challenge)).body.error.message).toContain('used up')
  const both = await ask()
  const statuses = await Promise.all([enter(both), enter(both)])
  expect(statuses.map(({ status }) => status).sort()).not.toEqual([200, 200])
  const elsewhere = await new Challenges(passkeys, clock).forSignIn(rp)
  expect((await enter(elsewhere)).body.error.code).toBe('API_PROOF')
  const late = await ask()
  nowMs += CHALLENGE_MS
  expect((await enter(late)).body.error.code).toBe('API_PROOF')
})
