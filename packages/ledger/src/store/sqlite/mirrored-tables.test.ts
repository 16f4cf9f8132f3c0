// Rows that gates share are found by their key, however many there are and whatever a name contains.

import { DatabaseSync } from 'node:sqlite'
import { expect, test, vi } from 'vitest'
import { type MirroredRow, MirroredTables } from './mirrored-tables.ts'

const TABLES = `
  CREATE TABLE pins (server TEXT NOT NULL, name TEXT NOT NULL, digest TEXT, PRIMARY KEY (server, name)) STRICT;
  CREATE TABLE requests (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, args BLOB) STRICT;
  CREATE TABLE grants (hash BLOB PRIMARY KEY, name TEXT) STRICT;`

function open() {
  const database = new DatabaseSync(':memory:')
  database.exec(TABLES)
  const changed: [kind: string, key: string][] = []
  const tables = new MirroredTables((kind, key) => changed.push([kind, key]))
  tables.add(database, [
    { name: 'pins', key: ['server', 'name'] },
    { name: 'requests', key: ['id'], omit: { seq: undefined } },
    { name: 'grants', key: ['hash'] },
  ])
  tables.watch(database, ['pins', 'requests', 'grants'])
  const takeRows = (): MirroredRow[] => changed.splice(0).map((each) => tables.read(...each))
  return { database, tables, takeRows }
}

test('finding: one row of many is found without looking at the others', () => {
  const { database, tables, takeRows } = open()
  const pin = database.prepare('INSERT INTO pins VALUES (?, ?, ?)')
  const request = database.prepare('INSERT INTO requests (id, args) VALUES (?, ?)')
  for (let at = 0; at < 500; at++) {
    pin.run('s', `tool_${at}`, 'd')
    request.run(`r${at}`, Buffer.from([1]))
  }
  const rows = takeRows()
  let compared = 0
  database.function('quote', { deterministic: true }, (text) => {
    compared++
    return `'${text}'`
  })
  for (const { kind, key, body } of rows) expect(tables.read(kind, key).body).toBe(body)
  expect(compared).toBe(rows.length)
  tables.apply(rows.map((row) => ({ ...row, body: null })))
  expect(compared).toBeLessThan(5 * rows.length)
  expect(database.prepare('SELECT * FROM pins, requests').all()).toEqual([])
})

test.each(['plain', "it's ''two''", 'a\u0000b', 'a\nb', '\u{1F600} \u200b', ''])(
  'a row whose name is %j is read, written and removed elsewhere',
  (name) => {
    const [one, other] = [open(), open()]
    for (const { database } of [one, other])
      database.prepare('INSERT INTO pins VALUES (?, ?, ?)').run('s', 'other', 'd')
    one.takeRows()
    one.database.prepare('INSERT INTO pins VALUES (?, ?, ?)').run('s', name, 'd1')
    one.database
      .prepare('INSERT INTO requests (id, args) VALUES (?, ?)')
      .run(name, Buffer.from([7]))
    one.database.prepare('INSERT INTO grants VALUES (?, ?)').run(Buffer.from(`#${name}`), name)
    other.tables.apply(one.takeRows())
    const all = ({ database }: typeof one) =>
      ['pins', 'requests', 'grants'].map((table) =>
        database.prepare(`SELECT * FROM ${table}`).all(),
      )
    expect(all(other)).toEqual(all(one))
    expect(all(other).map(({ length }) => length)).toEqual([2, 1, 1])
    one.database.exec(
      "DELETE FROM pins WHERE name <> 'other'; DELETE FROM requests; DELETE FROM grants",
    )
    other.tables.apply(one.takeRows())
    expect(all(other)).toEqual(all(one))
  },
)

test('rows of another gate are applied in one transaction', () => {
  const { database, tables, takeRows } = open()
  const pin = database.prepare('INSERT INTO pins VALUES (?, ?, ?)')
  for (const name of ['a', 'b', 'c']) pin.run('s', name, 'd')
  const rows = takeRows()
  const exec = vi.spyOn(database, 'exec')
  tables.apply(rows)
  expect(exec.mock.calls.flat()).toEqual(['BEGIN IMMEDIATE', 'COMMIT'])
})
