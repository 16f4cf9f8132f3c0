// Grants: what is stored, who is found, and what another process sees of it.

import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseTime } from '@sluice/policy/document/shape'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { GRANT_NAME } from '../grant-fields.ts'
import { LAST_USES_STORED_MAX } from '../limits.ts'
import { getRevocationMs, hashGrantToken, makeToken } from './grant.ts'
import { Grants } from './grants.ts'

const ANN = { name: 'ann', policy: 'reader', slots: 2, groups: ['ops'], explain: true }
const T = 1_700_000_000_000

let folder = ''
let grants: Grants
let gate: Grants

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-grants-'))
  grants = Grants.open(folder)
  gate = Grants.open(folder)
})
afterEach(() => {
  grants.close()
  gate.close()
  rmSync(folder, { recursive: true })
})

describe('a grant', () => {
  test('is found by its token, and by nothing else', () => {
    const { grant, token } = grants.add(ANN, T)
    expect(token).toMatch(/^sluice_[0-9a-f]{64}$/)
    expect(grants.find(token)).toEqual(grant)
    expect(grant).toMatchObject({ ...ANN, createdMs: T, lastUsedMs: null, revokedMs: null })
    const { hash, id } = grant
    for (const other of [
      '',
      'ann',
      id,
      hash.toString('hex'),
      `sluice_${hash.toString('hex')}`,
      token.toUpperCase(),
      `${token} `,
      token.slice(0, -1),
      makeToken(),
    ])
      expect(grants.find(other)).toBeUndefined()
  })

  test('is not on the disk as its token, in any file, and only its owner can read them', () => {
    const { token } = grants.add(ANN, T)
    for (const name of readdirSync(folder)) {
      const bytes = readFileSync(join(folder, name))
      expect(bytes.includes(token.slice(7))).toBe(false)
      expect(bytes.includes(Buffer.from(token.slice(7), 'hex'))).toBe(false)
      expect(statSync(join(folder, name)).mode & 0o077).toBe(0)
    }
  })

  test('that another process adds or revokes is seen at the next refresh', () => {
    expect(gate.refresh()).toBe(false)
    const { grant, token } = grants.add(ANN, T)
    expect(gate.find(token)).toBeUndefined()
    expect(gate.refresh()).toBe(true)
    expect(gate.find(token)).toEqual(grant)
    expect(gate.holds(grant, T)).toBe(true)
    expect(grants.revoke('ann', T + 1)).toEqual(grant)
    expect(gate.refresh()).toBe(true)
    expect(gate.find(token)).toBeUndefined()
    expect(gate.holds(grant, T)).toBe(false)
    expect(gate.refresh()).toBe(false)
  })

  test('that is revoked stays on the list, so that nothing opens; forgotten it is gone', () => {
    grants.add(ANN, T)
    grants.revoke('ann', T + 1)
    expect(grants.exist).toBe(true)
    expect(grants.list()).toMatchObject([{ name: 'ann', revokedMs: T + 1 }])
    const second = grants.add(ANN, T + 2)
    expect(grants.find(second.token)?.name).toBe('ann')
    expect(grants.forget('ann')).toBe(2)
    expect(grants.exist).toBe(false)
    expect(grants.revoke('ann', T)).toBeUndefined()
  })

  test('has a unique name, also if two processes race', () => {
    grants.add(ANN, T)
    expect(() => grants.add(ANN, T)).toThrow(/has a grant already/)
    expect(() => gate.add(ANN, T)).toThrow(/has a grant already/)
  })

  test('with an end is valid until then; its name is free again', () => {
    const { grant, token } = grants.add({ ...ANN, untilMs: T + 10 }, T)
    gate.refresh()
    expect(gate.list()).toMatchObject([{ untilMs: T + 10, revokedMs: null }])
    expect([T + 9, T + 10].map((ms) => gate.holds(grant, ms))).toEqual([true, false])
    expect(gate.nextEndMs(T)).toBe(T + 10)
    expect([gate.nextEndMs(T + 10), gate.validNames(T + 10)]).toEqual([Infinity, []])
    expect(() => gate.add(ANN, T + 9)).toThrow(/has a grant already/)
    expect(gate.exist).toBe(true)
    const next = gate.add({ ...ANN, untilMs: T + 30 }, T + 10)
    expect(gate.find(token)?.untilMs).toBe(T + 10)
    // Also if it is revoked at the very moment that it ends, and the clock is set back later.
    expect(gate.revoke('ann', T + 20)).toEqual(next.grant)
    gate.add({ ...ANN, untilMs: T + 50 }, T + 40)
    expect(gate.revoke('ann', T + 49)).toBeDefined()
    expect(gate.validNames(T)).toEqual([])
    // The first had ended by itself.
    expect(gate.list().map(getRevocationMs)).toEqual([null, T + 20, T + 49])
  })

  test('that is revoked after its end does not come back if the clock was ahead', () => {
    const { grant } = grants.add({ ...ANN, untilMs: T + 10 }, T)
    expect(grants.revoke('ann', T + 1_000)).toEqual(grant)
    expect([grants.holds(grant, T), grants.revoke('ann', T)]).toEqual([false, undefined])
  })

  test('has an end that is a day, or a time with a zone', () => {
    expect(parseTime('2027-01-31')).toBe(Date.UTC(2027, 0, 31))
    expect(parseTime('2027-01-31T18:00:00.5+01:00')).toBe(Date.UTC(2027, 0, 31, 17, 0, 0, 500))
    for (const text of [
      '',
      'never',
      '2027',
      '2027-02-31',
      '2027-01-31T18:00',
      '1800000000',
      '1e9Z',
    ])
      expect(parseTime(text)).toBeUndefined()
  })

  test('can be fixed in the configuration, by its hash', () => {
    const token = makeToken()
    const fixed = Grants.open(folder, [{ ...ANN, hash: hashGrantToken(token) as Buffer }])
    expect(fixed.exist).toBe(true)
    expect(fixed.find(token)).toMatchObject({ name: 'ann', isFixed: true, createdMs: null })
    expect(fixed.revoke('ann', T)).toBeUndefined()
    expect(() => fixed.add(ANN, T)).toThrow(/has a grant already/)
    fixed.close()
  })

  test('finding: the last uses of very many are stored in one transaction, some at a time', () => {
    const insert = grants.file.database.prepare(
      `INSERT INTO grants (hash, name, policy, slots, groups, explain, says_prompt, created_ms)
       VALUES (?, ?, 'local', 1, '[]', 0, 0, 1)`,
    )
    const count = LAST_USES_STORED_MAX + 10
    grants.file.database.exec('BEGIN')
    for (let n = 0; n < count; n++)
      insert.run(createHash('sha256').update(`${n}`).digest(), `c${n}`)
    grants.file.database.exec('COMMIT')
    grants.close()
    const again = Grants.open(folder)
    for (const grant of again.list()) again.used(grant, 10 ** 12)
    const exec = vi.spyOn(again.file.database, 'exec')
    const stored = () =>
      again.file.database.prepare('SELECT count(last_used_ms) AS n FROM grants').get()?.n
    again.storeLastUse()
    expect(exec.mock.calls.flat()).toEqual(['BEGIN IMMEDIATE', 'COMMIT'])
    expect(stored()).toBe(LAST_USES_STORED_MAX)
    again.storeLastUse()
    expect(stored()).toBe(count)
    again.close()
  })

  test('records when it was last used, from time to time', () => {
    const { grant } = grants.add(ANN, T)
    grants.used(grant, T + 5)
    grants.storeLastUse()
    grants.used(grant, T + 6)
    grants.storeLastUse()
    gate.refresh()
    expect(gate.list()).toMatchObject([{ lastUsedMs: T + 5 }])
    grants.close()
    gate.refresh()
    expect(gate.list()).toMatchObject([{ lastUsedMs: T + 6 }])
  })

  test('cannot be named like the local user, a token of an issuer, or a session', () => {
    for (const name of ['local', 'corp:ann', 'a#1@2', '', ' ', 'a b', 'é', 'x'.repeat(65)])
      expect(GRANT_NAME.form.test(name)).toBe(false)
    for (const name of ['ann', 'ann@example.com', 'ci-7', 'locals', 'Local'])
      expect(GRANT_NAME.form.test(name)).toBe(true)
  })
})
