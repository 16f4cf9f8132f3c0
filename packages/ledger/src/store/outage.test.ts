import { expect, test } from 'vitest'
import { StoreError } from './errors.ts'
import { describeToCaller, isOutage } from './outage.ts'
import { toUnreachable } from './postgres/explain-failure.ts'

const PUBLIC = 'temporary outage: the store of the gate cannot be used; try again in 5 s'

test('P2: a fault of the store is told without an address, a user or a path', () => {
  const refused = { message: 'too many connections for role "sluice"', severity: 'FATAL' }
  const faults = [
    toUnreachable('postgres://sluice@db.internal:5432/sluice', refused),
    Object.assign(new Error('permission denied for table ledger'), {
      severity: 'ERROR',
      code: '42501',
    }),
    new StoreError('STORE_FULL', 'the disk of `/srv/data/gate.db` is full', 'free space'),
  ]
  for (const fault of faults) {
    expect(isOutage(fault)).toBe(true)
    expect(describeToCaller(fault)).toBe(PUBLIC)
    expect(describeToCaller(new Error('a wrapper', { cause: fault }))).toBe(PUBLIC)
  }
})

test('other errors keep their words', () => {
  const conflict = new StoreError('STORE_CONFLICT', 'another gate changed the same', 'look')
  expect(describeToCaller(conflict)).toBe('another gate changed the same')
  expect(describeToCaller(new Error('no such tool'))).toBe('no such tool')
  expect(isOutage(Object.assign(new Error('gone'), { code: 'ENOENT' }))).toBe(false)
})
