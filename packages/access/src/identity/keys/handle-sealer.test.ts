// Sealed handles: opened only for whom they were sealed, and rejected after any change.

import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { HANDLE_BYTES_MAX } from '../limits.ts'
import { HandleSealer, type SealBinding, type SealKind } from './handle-sealer.ts'
import { InstallationKey } from './installation-key.ts'

const seals = new HandleSealer(new InstallationKey(Buffer.alloc(32, 7)))
const KINDS: SealKind[] = ['session', 'cursor', 'task', 'requestState', 'subscription']
const kind = fc.constantFrom(...KINDS)
const sealedFor: fc.Arbitrary<SealBinding> = fc.record({
  server: fc.string(),
  principal: fc.string(),
  call: fc.option(fc.string(), { nil: undefined }),
})
const handle = fc.string({ unit: 'grapheme', maxLength: 200 })

describe('a sealed handle', () => {
  test('opens for whom it was sealed, is deterministic, and is safe anywhere', () => {
    fc.assert(
      fc.property(kind, sealedFor, handle, (kind, whom, handle) => {
        const sealed = seals.seal(kind, whom, handle)
        expect(sealed).toMatch(/^s1\.[\w-]{22,}$/)
        expect(seals.seal(kind, whom, handle)).toBe(sealed)
        expect(seals.open(kind, whom, sealed)).toBe(handle)
      }),
    )
  })

  test("another principal's, server's, call's or kind's is refused", () => {
    fc.assert(
      fc.property(kind, sealedFor, kind, sealedFor, handle, (kind, whom, other, who, handle) => {
        const isSame = JSON.stringify([kind, whom]) === JSON.stringify([other, who])
        const opened = seals.open(other, who, seals.seal(kind, whom, handle))
        expect(opened).toBe(isSame ? handle : undefined)
      }),
    )
  })

  test('no part of the binding can be moved into another', () => {
    const sealed = seals.seal('task', { server: 'a', principal: 'b"c', call: 'd' }, 'x')
    for (const whom of [
      { server: 'a"b', principal: 'c', call: 'd' },
      { server: 'a', principal: 'b"c","d' },
      { server: 'a', principal: 'b"c', call: 'd","x' },
    ])
      expect(seals.open('task', whom, sealed)).toBeUndefined()
  })

  test('changed anywhere it is refused', () => {
    const whom = { server: 'notes', principal: 'ann' }
    const sealed = seals.seal('cursor', whom, 'page 2')
    for (let at = 0; at < sealed.length; at++)
      for (const other of ['A', 'B', '-', '=', ''])
        if (sealed[at] !== other) {
          const bent = sealed.slice(0, at) + other + sealed.slice(at + 1)
          expect(seals.open('cursor', whom, bent)).toBeUndefined()
        }
    for (const more of [`${sealed}=`, `${sealed}A`, ` ${sealed}`, '', 's1.', 'page 2'])
      expect(seals.open('cursor', whom, more)).toBeUndefined()
  })

  test('of another installation is refused', () => {
    const other = new HandleSealer(new InstallationKey(Buffer.alloc(32, 8)))
    const whom = { server: 'notes', principal: 'ann' }
    expect(other.open('task', whom, seals.seal('task', whom, 't'))).toBeUndefined()
  })

  test('reveals nothing of the handle but its length', () => {
    const whom = { server: 'notes', principal: 'ann' }
    const bytes = Buffer.from(seals.seal('task', whom, 'secret-task-7').slice(3), 'base64url')
    expect(bytes).toHaveLength(16 + 13)
    expect(bytes.toString('latin1')).not.toContain('secret')
  })

  test('is bounded, both ways', () => {
    const whom = { server: 'notes', principal: 'ann' }
    const largest = 'x'.repeat(HANDLE_BYTES_MAX)
    expect(seals.open('task', whom, seals.seal('task', whom, largest))).toBe(largest)
    expect(() => seals.seal('task', whom, `${largest}x`)).toThrow(/at most|has 65537 bytes/)
    expect(seals.open('task', whom, `s1.${'A'.repeat(200_000)}`)).toBeUndefined()
  })
})

describe('the key of an installation', () => {
  let folder = ''
  const fresh = (): string => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-key-'))
    return folder
  }
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  test('is created once, for its owner only, and found again', () => {
    const data = join(fresh(), 'data')
    const first = InstallationKey.at(data).derive('seal', 64)
    expect(InstallationKey.at(data).derive('seal', 64)).toEqual(first)
    expect(InstallationKey.at(data).derive('logins', 64)).not.toEqual(first)
    expect(statSync(join(data, 'identity.key')).mode & 0o777).toBe(0o600)
    expect(readdirSync(data)).toEqual(['identity.key', 'owner.mark'])
  })

  test('that is too short is an error, not a weaker key', () => {
    const data = fresh()
    writeFileSync(join(data, 'identity.key'), randomBytes(31), { mode: 0o600 })
    expect(() => InstallationKey.at(data)).toThrow(/has 31 bytes/)
  })

  test.skipIf(process.platform === 'win32')(
    'Review F1: a key that others may read, as one from a cloned project, is refused',
    () => {
      const data = fresh()
      const file = join(data, 'identity.key')
      writeFileSync(file, randomBytes(32), { mode: 0o600 })
      for (const mode of [0o644, 0o640, 0o604, 0o620]) {
        chmodSync(file, mode)
        expect(() => InstallationKey.at(data)).toThrow('others may read the key')
      }
      chmodSync(file, 0o600)
      InstallationKey.at(data)
    },
  )
})
