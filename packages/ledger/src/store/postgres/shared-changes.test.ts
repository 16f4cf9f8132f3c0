// How changes of a gate are sent to the shared store, which here only notes what it gets.

import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { CHANGED_LENGTH_MAX } from '../limits.ts'
import type { MirroredRow } from '../sqlite/mirrored-tables.ts'
import type { SharedRows } from './shared-rows.ts'
import { SharedState } from './shared-state.ts'

test('finding: many definitions are sent in parts, rows that belong together at once', async () => {
  const sent: (readonly MirroredRow[])[] = []
  const rows: Pick<SharedRows, 'version' | 'change' | 'readNews'> = {
    version: 1,
    change: async (changed) => void sent.push(changed),
    readNews: async () => {},
  }
  const database = new DatabaseSync(':memory:')
  const state = new SharedState(rows as SharedRows)
  const names = ['pins', 'documents']
  for (const name of names) database.exec(`CREATE TABLE ${name} (name TEXT PRIMARY KEY, body TEXT)`)
  state.tables.add(
    database,
    names.map((name) => ({ name, key: ['name'] })),
  )
  state.tables.watch(database, names)
  const body = 'x'.repeat(CHANGED_LENGTH_MAX / 2)
  for (let n = 0; n < 6; n++)
    for (const name of names) database.exec(`INSERT INTO ${name} VALUES ('${n}', '${body}')`)
  await state.settle()
  state.close()
  const kinds = sent.map((part) => part.map(({ kind }) => kind))
  expect(kinds.flat().filter((kind) => kind === 'pins')).toHaveLength(6)
  expect(kinds[0]?.filter((kind) => kind === 'documents')).toHaveLength(6)
  expect(sent.length).toBeGreaterThan(1)
})

test.each([
  ['freezes', true],
  ['documents', false],
])(
  'a row of %s that another gate removes while this one writes it stays: %s',
  async (table, stays) => {
    const removed = { kind: table, key: `["'all'"]`, body: null }
    const sent: (readonly MirroredRow[])[] = []
    let isBehind = true
    const rows: Pick<SharedRows, 'version' | 'change' | 'readNews'> = {
      version: 1,
      change: async (changed) => {
        if (isBehind) throw Object.assign(new Error('another gate was faster'), { code: 'SL001' })
        sent.push(changed)
      },
      readNews: async (take) => {
        isBehind = false
        take([removed], [])
      },
    }
    const database = new DatabaseSync(':memory:')
    database.exec(`CREATE TABLE ${table} (scope TEXT PRIMARY KEY, why TEXT)`)
    const state = new SharedState(rows as SharedRows)
    state.tables.add(database, [{ name: table, key: ['scope'] }])
    state.tables.watch(database, [table])
    const confirm = state.beginChange()
    database.exec(`INSERT OR REPLACE INTO ${table} VALUES ('all', 'now')`)
    const answer = confirm()
    if (stays) await answer
    else await expect(answer).rejects.toThrow('another gate changed the same')
    state.close()
    expect(database.prepare(`SELECT why FROM ${table}`).all()).toHaveLength(stays ? 1 : 0)
    expect(sent.flat().map(({ body }) => body !== null)).toEqual(stays ? [true] : [])
  },
)
