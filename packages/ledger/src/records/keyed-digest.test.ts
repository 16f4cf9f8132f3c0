// The keyed digest is HMAC-SHA256, so that others can compute it with the same key.

import { createHmac, hash, randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../../test/support/runs.ts'
import { KeyedDigest } from './keyed-digest.ts'

test('it is HMAC-SHA256 bit for bit, whatever was digested before', () => {
  const keys = [randomBytes(32), Buffer.alloc(32)]
  const digests = keys.map((key) => new KeyedDigest(key))
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (text) => {
      for (const [at, key] of keys.entries())
        expect(digests[at]?.of(text)).toBe(
          createHmac('sha256', key).update(text).digest('base64url'),
        )
    }),
    runs(1_000),
  )
})

test('a long text is digested by its SHA-256', () => {
  const digest = new KeyedDigest(Buffer.alloc(32))
  const text = 'é'.repeat(1_000)
  expect(digest.of(text)).toBe(digest.of(hash('sha256', text, 'hex')))
})
