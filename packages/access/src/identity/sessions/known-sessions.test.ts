import { digestOwner } from '@sluice/ledger/store/postgres/session-rows'
import { expect, test } from 'vitest'
import { type KnownSession, KnownSessions } from './known-sessions.ts'

function makeSession(id: string, principal: string): KnownSession {
  return {
    id,
    name: { owner: digestOwner(principal), number: 1 },
    principal,
    keepMs: 0,
    keys: new Set(),
    labelled: principal,
    labelledOwner: digestOwner(principal),
    stored: new Set(),
    unstored: new Set(),
    storing: undefined,
    isConnected: true,
    since: 0,
  }
}

test('sessions are found by their owner and by whose labels theirs are, until they are deleted', () => {
  const known = new KnownSessions()
  const idsOf = (principal: string) => known.of(digestOwner(principal)).map(({ id }) => id)
  known.add(makeSession('one', 'ann'), 'ann')
  known.add(makeSession('two', 'family'), 'ann')
  known.add(makeSession('three', 'bob'), 'bob')
  expect([idsOf('ann'), idsOf('family'), idsOf('bob')]).toEqual([
    ['one', 'two'],
    ['two'],
    ['three'],
  ])

  known.add(known.get('two') as KnownSession, 'bob')
  expect([idsOf('ann'), idsOf('family'), idsOf('bob')]).toEqual([
    ['one'],
    ['two'],
    ['three', 'two'],
  ])
  expect([...known].map(({ id }) => id).sort()).toEqual(['one', 'three', 'two'])

  expect([known.delete('two'), known.delete('two')]).toEqual([true, false])
  expect([idsOf('family'), idsOf('bob')]).toEqual([[], ['three']])
  expect(['ann', 'family', 'bob'].map((name) => known.concerns(digestOwner(name)))).toEqual([
    true,
    false,
    true,
  ])
})
