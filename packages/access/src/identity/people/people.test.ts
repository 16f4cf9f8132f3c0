// Approvers: what is a valid PIN, how often a wrong one may be tried, and that neither a restart
// nor concurrent attempts give more. The test sets the time.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fileScratchDirectory } from '../../../../../test/support/scratch.ts'
import { createGateToken, ownTokenKind, redactGateTokens } from '../keys/gate-tokens.ts'
import { PIN_PAUSE_FIRST_MS, PIN_PAUSE_MS_MAX, PIN_TRIES } from '../limits.ts'
import { isPersonName } from '../names.ts'
import type { Approver } from '../person.ts'
import type { MachineClock } from './machine-clock.ts'
import { Passkeys } from './passkeys.ts'
import { People } from './people.ts'
import { checkNewPin, hashPin, verifyPin } from './pin.ts'
import { pauseAfter } from './pin-pause.ts'

const COST = 2 ** 4
const PIN = 'green apples'
const folder = fileScratchDirectory()

/** A system without an uptime clock. */
const NO_CLOCK: MachineClock = { boot: '', upMs: () => 0 }

const called = (name: string, roles: Approver['roles'] = ['admin']): Approver => ({
  name,
  kind: 'person',
  roles,
  groups: [],
  owns: [],
})

async function withAnn(name: string, clock: MachineClock = NO_CLOCK) {
  const directory = join(folder, name)
  const people = People.open(directory, { pinCost: COST, clock })
  await people.add(called('ann'), { pin: PIN }, 1)
  return { people, directory, again: () => People.open(directory, { pinCost: COST, clock }) }
}

test('a PIN has six characters or more, and is not one that is guessed first', () => {
  for (const pin of [
    '123456',
    '654321',
    '000000',
    '121212',
    'abcdef',
    '123123',
    '12345',
    '',
    'a\nbcdef',
  ])
    expect(() => checkNewPin(pin)).toThrow()
  for (const pin of [undefined, 123456, 'x'.repeat(65)]) expect(() => checkNewPin(pin)).toThrow()
  for (const pin of ['271828', 'green apples', 'ünïcödé!']) expect(checkNewPin(pin)).toBe(pin)
})

test('a PIN is stored as a hash with its cost, and nothing else is accepted', async () => {
  const kept = await hashPin(PIN, COST)
  expect(kept).not.toContain(PIN)
  expect(await verifyPin(PIN, kept)).toBe(true)
  expect(await verifyPin(`${PIN} `, kept)).toBe(false)
  for (const row of [
    '',
    'scrypt$16$$',
    kept.replace('$16$', '$0$'),
    kept.replace('$16$', '$999999999$'),
  ])
    expect(await verifyPin(PIN, row)).toBe(false)
})

test('five attempts are free, then a pause that doubles, during which a correct PIN is not even checked', async () => {
  const { people } = await withAnn('tries')
  let nowMs = 1_000
  const attempt = (pin: string) => people.prove({ pin }, nowMs)
  for (let time = 1; time < PIN_TRIES; time++)
    await expect(attempt('wrong one')).rejects.toMatchObject({
      help: expect.stringMatching(/^\d (try|tries) left before a pause$/),
    })
  await expect(attempt('wrong one')).rejects.toMatchObject({ help: 'no more tries for 60 s' })
  nowMs += PIN_PAUSE_FIRST_MS - 1
  await expect(attempt(PIN)).rejects.toThrow('5 wrong PINs of `ann`: no more tries for 1 s')
  nowMs += 1
  await expect(attempt('wrong one')).rejects.toMatchObject({ help: 'no more tries for 2 min' })
  nowMs += 2 * PIN_PAUSE_FIRST_MS
  expect(await attempt(PIN)).toMatchObject({ name: 'ann', proof: 'pin' })
  expect(people.find('ann')).toMatchObject({ wrongPins: 0, pausedUntilMs: 0 })
  people.close()
})

test('a pause uses a monotonic clock: setting the wall clock back or forward changes nothing', async () => {
  let upMs = 50_000
  const clock = { boot: 'boot 1', upMs: () => upMs }
  const { people, directory } = await withAnn('clock', clock)
  let nowMs = 10 * 3_600_000
  const attempt = (pin: string, by = people) => by.prove({ pin }, nowMs)
  for (let time = 1; time <= PIN_TRIES; time++)
    await expect(attempt('wrong one')).rejects.toThrow('wrong PIN for `ann`')
  for (const jump of [-3_600_000, 0, 3_600_000]) {
    nowMs = 10 * 3_600_000 + jump
    await expect(attempt(PIN)).rejects.toThrow('no more tries for 60 s')
  }
  // After a reboot only the wall clock is left; an hour back is one more pause, not 61 minutes.
  const later = People.open(directory, { pinCost: COST, clock: { boot: 'boot 2', upMs: () => 5 } })
  nowMs = 9 * 3_600_000
  await expect(attempt(PIN, later)).rejects.toThrow('no more tries for 60 s')
  later.close()
  upMs += PIN_PAUSE_FIRST_MS
  expect(await attempt(PIN)).toMatchObject({ name: 'ann' })
  people.close()
})

test('an attempt counts before it is checked: concurrency, or a kill in between, refunds none', async () => {
  const { people, again } = await withAnn('crowd')
  const crowd = Array.from({ length: 50 }, () => people.prove({ pin: 'wrong one' }, 5))
  // What a process that dies now has on disk.
  const other = again()
  expect(other.find('ann')).toMatchObject({ wrongPins: PIN_TRIES })
  const results = await Promise.allSettled(crowd)
  const judged = results.filter(({ reason }: { reason?: Error } & object) =>
    String(reason).includes('wrong PIN for'),
  )
  expect(judged).toHaveLength(PIN_TRIES)
  await expect(other.prove({ pin: PIN }, 5)).rejects.toThrow('no more tries')
  other.close()
  people.close()
})

test('of two concurrent first PINs one wins, and no other person is left on the list', async () => {
  const people = People.open(join(folder, 'first'), { pinCost: COST })
  await people.add(called('listed'), {}, 1)
  const both = ['ann', 'eve'].map((name) => people.setFirst(called(name), PIN, 2))
  const results = await Promise.allSettled(both)
  expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  expect(people.list()).toHaveLength(1)
  await expect(people.setFirst(called('eve'), PIN, 3)).rejects.toThrow('an approver exists already')
  people.close()
})

test('a pause grows with wrong PINs, up to a maximum', () => {
  fc.assert(
    fc.property(fc.nat(10_000), (wrong) => {
      const [pause, next] = [pauseAfter(wrong), pauseAfter(wrong + 1)]
      expect(next).toBeGreaterThanOrEqual(pause)
      expect(next).toBeLessThanOrEqual(PIN_PAUSE_MS_MAX)
      expect(pause === 0).toBe(wrong < PIN_TRIES)
    }),
  )
})

test('proof requires a name and a PIN, and the last admin stays', async () => {
  const { people, directory } = await withAnn('names')
  await people.add(called('bob', ['approver']), {}, 2)
  const prove = (name?: string) => people.prove({ ...(name && { name }), pin: PIN }, 5)
  expect(await prove()).toMatchObject({ name: 'ann' })
  await expect(prove('bob')).rejects.toThrow('`bob` has no PIN')
  await expect(prove('eve')).rejects.toMatchObject({ help: 'there are `ann`, `bob`' })
  await people.setPin('bob', PIN, 3)
  await expect(prove()).rejects.toThrow('several people with a PIN')
  await expect(people.add(called('bob'), {}, 3)).rejects.toThrow('is there already')
  expect(() => people.remove('ann')).toThrow('is the last one who may add or remove approvers')
  await people.add(called('eve'), {}, 4)
  expect(() => people.remove('ann')).toThrow('is the last one')
  await people.setPin('eve', PIN, 4)
  expect(people.remove('ann').name).toBe('ann')
  await expect(prove('ann')).rejects.toThrow('no approver')
  people.close()
  expect(readFileSync(join(directory, 'identity.db')).includes(PIN)).toBe(false)
})

test('a system is identified by its credential, which is stored as a hash', async () => {
  const { people } = await withAnn('system')
  const bot: Approver = { ...called('bot', ['approver']), kind: 'system' }
  const { token } = await people.add(bot, { token: true }, 2)
  expect(people.findByToken(token ?? '')).toMatchObject({ name: 'bot', proof: 'token' })
  for (const other of [createGateToken('sys'), createGateToken('in'), '', `${token}x`])
    expect(people.findByToken(other)).toBeUndefined()
  people.remove('bot')
  expect(people.findByToken(token ?? '')).toBeUndefined()
  people.close()
})

test("the gate's tokens are found in any text, and other text is unchanged", () => {
  for (const kind of ['sys', 'code', 'in'] as const) {
    const token = createGateToken(kind)
    expect(ownTokenKind(token)).toBe(kind)
    expect(redactGateTokens(`a ${token}, b`)).toBe('a sluice_removed, b')
  }
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(redactGateTokens(`sluice_${text.slice(0, 20)}`)).toBe(`sluice_${text.slice(0, 20)}`)
    }),
  )
})

test('finding: the last admin does not give the first PIN away with the last passkey', async () => {
  const people = People.open(join(folder, 'last'), { pinCost: COST })
  await people.add(called('ann'), {}, 1)
  const add = people.file.database.prepare(
    "INSERT INTO passkeys VALUES (?, 'ann', ?, 0, ?, ?, '[]', 1, NULL)",
  )
  for (const id of ['k1', 'k2']) add.run(id, new Uint8Array(1), 'localhost', 'key')
  const passkeys = new Passkeys(people)
  expect([passkeys.remove('ann', 'k1'), passkeys.remove('ann', 'none')]).toEqual([true, false])
  expect(() => passkeys.remove('ann', 'k2')).toThrow('last')
  await expect(people.setFirst(called('eve'), PIN, 2)).rejects.toThrow('an approver exists already')
  await people.add(called('bob'), { pin: PIN }, 3)
  expect(passkeys.remove('ann', 'k2')).toBe(true)
  people.close()
})

test("low: a name that is confusable with another approver's is refused", async () => {
  const { people } = await withAnn('alike')
  // Capitals, a dot, a fullwidth form, Cyrillic and Greek letters that look the same.
  for (const name of ['ANN', 'ann.', '-ann', 'ａnn', 'аnn', 'αnn', 'Ann_', 'ann@', 'a.nn', 'a-n_n'])
    await expect(people.add(called(name), { pin: PIN }, 2)).rejects.toThrow('`ann`')
  await people.add(called('anna'), { pin: PIN }, 2)
  expect(people.list().map(({ name }) => name)).toEqual(['ann', 'anna'])
  people.close()
})

test('low: a name has visible letters of one script', () => {
  for (const name of ['ann', 'Ünal', 'анна', '山田', 'ann.lee@corp-1'])
    expect([name, isPersonName(name)]).toEqual([name, true])
  for (const name of ['аnn', 'ann\u3164', 'ann\u115f', 'ann\u200b', 'αnn', '', 'a b', 'corp:ann'])
    expect([name, isPersonName(name)]).toEqual([name, false])
})
