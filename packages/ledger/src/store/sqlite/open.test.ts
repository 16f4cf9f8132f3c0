// Opening a database file: modes, versions, backups, and the message of every failure.

import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import { StoreError } from '../errors.ts'
import { storeFault } from '../files/faults.ts'
import { type OpenOptions, openDatabase, openReadOnly } from './open.ts'

const ONE = 'CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT) STRICT'
const TWO = 'ALTER TABLE things ADD COLUMN size INTEGER NOT NULL DEFAULT 7'

function fresh(migrations: readonly string[] = [ONE]): OpenOptions & { file: string } {
  const parent = mkdtempSync(join(tmpdir(), 'sluice-store-'))
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }))
  const directory = join(parent, 'data')
  return { directory, name: 'things.db', migrations, file: join(directory, 'things.db') }
}

function pragma(database: DatabaseSync, name: string): unknown {
  return Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0]
}

function failure(work: () => unknown): StoreError {
  try {
    work()
  } catch (error) {
    if (error instanceof StoreError) return error
    throw error
  }
  throw new Error('was expected to fail')
}

describe('a file', () => {
  test('is created for its owner only, in WAL mode, and survives', () => {
    const options = fresh()
    const database = openDatabase(options)
    expect(pragma(database, 'journal_mode')).toBe('wal')
    expect(pragma(database, 'synchronous')).toBe(1)
    database.exec("INSERT INTO things VALUES (1, 'a')")
    expect(statSync(options.directory).mode & 0o777).toBe(0o700)
    for (const end of ['', '-wal', '-shm'])
      expect(statSync(options.file + end).mode & 0o777).toBe(0o600)
    database.close()
    const again = openDatabase({ ...options, sync: 'full' })
    expect(pragma(again, 'synchronous')).toBe(2)
    expect(again.prepare('SELECT name FROM things').get()).toEqual({ name: 'a' })
    again.close()
  })

  test('that others may read is closed to them', () => {
    const options = fresh()
    openDatabase(options).close()
    writeFileSync(options.file, '', { flag: 'a', mode: 0o644 })
    rmSync(options.file)
    writeFileSync(options.file, '', { mode: 0o644 })
    openDatabase(options).close()
    expect(statSync(options.file).mode & 0o777).toBe(0o600)
  })

  test('of an older version is backed up, and migrated', () => {
    const options = fresh()
    const old = openDatabase(options)
    old.exec("INSERT INTO things VALUES (1, 'a')")
    old.close()
    const database = openDatabase({ ...options, migrations: [ONE, TWO] })
    expect(database.prepare('SELECT * FROM things').get()).toEqual({ id: 1, name: 'a', size: 7 })
    database.close()
    const copy = `${options.file}.v1.backup`
    expect(statSync(copy).mode & 0o777).toBe(0o600)
    const backup = new DatabaseSync(copy, { readOnly: true })
    expect(backup.prepare('SELECT * FROM things').get()).toEqual({ id: 1, name: 'a' })
    backup.close()
  })

  test('that is derived from others is migrated without a copy, which nobody would delete', () => {
    const options = fresh()
    openDatabase(options).close()
    openDatabase({ ...options, isDerived: true, migrations: [ONE, TWO] }).close()
    expect(readdirSync(options.directory).filter((name) => name.endsWith('.backup'))).toEqual([])
  })

  test('whose migration fails stays unchanged', () => {
    const options = fresh()
    openDatabase(options).close()
    const broken = { ...options, migrations: [ONE, `${TWO}; SELECT nonsense FROM nowhere`] }
    for (let attempt = 0; attempt < 2; attempt++) expect(() => openDatabase(broken)).toThrow()
    expect(readdirSync(options.directory).filter((name) => name.endsWith('.backup'))).toHaveLength(
      2,
    )
    const database = openDatabase(options)
    expect(pragma(database, 'user_version')).toBe(1)
    database.close()
  })

  test('of a newer version is refused, for reading too', () => {
    const options = fresh([ONE, TWO])
    openDatabase(options).close()
    for (const open of [openDatabase, openReadOnly]) {
      const error = failure(() => open({ ...options, migrations: [ONE] }))
      expect(error.code).toBe('STORE_NEWER')
      expect(error.message).toContain('has version 2, this program knows up to 1')
    }
  })

  test('of a version that was never released is refused, for reading too', () => {
    const options = fresh([ONE])
    openDatabase(options).close()
    for (const open of [openDatabase, openReadOnly]) {
      const error = failure(() => open({ ...options, migrations: ['', ONE], oldest: 2 }))
      expect(error.code).toBe('STORE_OLDER')
      expect(error.message).toContain('has version 1, this program knows versions from 2 on')
    }
  })
})

describe('what is not ours', () => {
  test('a database of another program is left alone', () => {
    const options = fresh()
    openDatabase({ ...options, name: 'a.db' }).close()
    const other = new DatabaseSync(options.file)
    other.exec('CREATE TABLE theirs (x)')
    other.close()
    expect(failure(() => openDatabase(options)).message).toContain('of another program')
  })

  test('a file that is not a database', () => {
    const options = fresh()
    openDatabase({ ...options, name: 'a.db' }).close()
    writeFileSync(options.file, 'x'.repeat(5_000))
    expect(failure(() => openDatabase(options)).code).toBe('STORE_CORRUPT')
    expect(failure(() => openReadOnly(options)).code).toBe('STORE_CORRUPT')
  })
})

describe('read-only', () => {
  test('creates nothing', () => {
    const options = fresh()
    expect(failure(() => openReadOnly(options)).code).toBe('STORE_MISSING')
    expect(existsSync(options.directory)).toBe(false)
  })

  test('sees what another connection commits, and cannot write', () => {
    const options = fresh()
    const writer = openDatabase(options)
    const reader = openReadOnly(options)
    writer.exec("INSERT INTO things VALUES (1, 'a')")
    expect(reader.prepare('SELECT count(*) AS n FROM things').get()).toEqual({ n: 1 })
    expect(
      failure(() => {
        try {
          reader.exec('DELETE FROM things')
        } catch (error) {
          throw storeFault(error, options.file)
        }
      }).code,
    ).toBe('STORE_READ_ONLY')
    reader.close()
    writer.close()
  })
})

test.each([
  [{ errcode: 5 }, 'STORE_LOCKED'],
  [{ errcode: 261 }, 'STORE_LOCKED'],
  [{ errcode: 13 }, 'STORE_FULL'],
  [{ errcode: 8 }, 'STORE_READ_ONLY'],
  [{ errcode: 11 }, 'STORE_CORRUPT'],
  [{ errcode: 778 }, 'STORE_IO'],
  [{ errcode: 1 }, 'STORE_IO'],
  [{ code: 'ENOSPC' }, 'STORE_FULL'],
  [{ code: 'EROFS' }, 'STORE_READ_ONLY'],
  [undefined, 'STORE_IO'],
])('%o is %s, with what to do', (error, code) => {
  const fault = storeFault(error, 'a.db')
  expect(fault.code).toBe(code)
  expect(fault.help).not.toBe('')
  expect(storeFault(fault, 'b.db')).toBe(fault)
})
