// Which operations are changes: their answer waits for the store that gates share, and is an error if another gate
// was faster. What only reads or waits is not ended by a conflict that it has no part in.

import { NOBODY } from '@sluice/access/identity/person'
import { expect, test } from 'vitest'
import type { Operation, OperationParts } from './operation.ts'
import { runOperation, runProven } from './run-operation.ts'
import { OPERATIONS } from './table.ts'

const CHANGES = [
  'agents.trust',
  'approvals.decide',
  'approvals.deny',
  'approvals.end',
  'approvals.lift',
  'grants.add',
  'grants.revoke',
  'people.add',
  'people.change-pin',
  'people.remove',
  'people.set-first-pin',
  'person.forget',
  'pins.accept',
  'pins.refuse',
  'policy.apply',
  'servers.accept',
  'servers.put',
  'servers.remove',
  'servers.restart',
  'sessions.end',
  'thaw',
  'traces.delete',
  'traces.record',
]

/** They change nothing that is stored, or, like the end of a recording and of the gate, must not depend on a store.
 * `undo.restore` changes files of a project, which no other gate has. */
const OTHERS = [
  'approvals.list',
  'approvals.news',
  'approvals.reveal',
  'approvals.show',
  'approvals.standing',
  'calls.decide',
  'freeze.list',
  'gates',
  'grants.list',
  'ledger.digest',
  'metrics',
  'people.list',
  'people.prove',
  'pins.held',
  'servers.list',
  'servers.preview',
  'sessions.list',
  'sessions.token',
  'status',
  'stop',
  'traces.export',
  'traces.list',
  'traces.stop',
  'undo.list',
  'undo.restore',
]

test('every operation says whether it changes something: a new one is added to one of the lists', () => {
  const names = (rows: readonly Operation[]) => [...new Set(rows.map(({ name }) => name))].sort()
  expect(names(OPERATIONS.filter(({ changes }) => changes === true))).toEqual(CHANGES)
  expect(names(OPERATIONS.filter(({ changes }) => changes === 'at once'))).toEqual(['freeze'])
  expect(names(OPERATIONS.filter(({ changes }) => changes === undefined))).toEqual(OTHERS)
})

test('what is read over HTTP changes nothing, and what is put or deleted there does', () => {
  const rows = OPERATIONS.filter(({ http }) => http !== undefined && http.method !== 'POST')
  for (const { name, http, changes } of rows)
    expect(changes === true, name).toBe(http?.method !== 'GET')
})

/** Parts of a gate in which another operation meets a conflict while this one runs. */
function partsInConflict(): OperationParts {
  const parts: Partial<OperationParts> = {
    beginChange: () => () => Promise.reject(new Error('STORE_CONFLICT')),
  }
  // Only what the operations below use.
  return parts as OperationParts
}

function rowOf(changes: true | undefined): Operation {
  const input = { news: { shape: { kind: 'integer', min: 0, max: 9 }, doc: 'any' } } as const
  const row = { name: 'a', summary: 'b', role: 'viewer', proof: 'none', input } as const
  return { ...row, ...(changes && { changes }), run: () => ({ done: true }) }
}

test.each([
  ['the socket', (row: Operation) => runOperation(row, partsInConflict(), { do: 'a', news: 1 })],
  ['the API', (row: Operation) => runProven(row, partsInConflict(), { news: 1 }, NOBODY)],
])('over %s a conflict ends a change, and not a poll with options', async (_, run) => {
  expect(await run(rowOf(undefined))).toEqual({ done: true })
  await expect(run(rowOf(true))).rejects.toThrow('STORE_CONFLICT')
})
