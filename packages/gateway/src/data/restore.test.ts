import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { People } from '@sluice/access/identity/people/people'
import { type StoredSignIn, StoredSignIns } from '@sluice/access/identity/people/stored-sign-ins'
import { Ledger } from '@sluice/ledger/ledger'
import { writeMark } from '@sluice/ledger/store/files/data-mark'
import { expect, test } from 'vitest'
import { scratchDirectory } from '../../../../test/support/scratch.ts'
import { backUp, MANIFEST } from './backup.ts'
import { restoreBackup } from './restore.ts'

interface List {
  files: unknown[]
}

const SIGN_IN: StoredSignIn = {
  name: 'ann',
  basis: '',
  proof: 'pin' as const,
  guest: null,
  sinceMs: 1,
  untilMs: 9e9,
}

/** A data directory with one recorded event, and its backup. */
async function backedUp(): Promise<{ data: string; copy: string }> {
  const folder = scratchDirectory()
  const [data, copy] = [join(folder, 'data'), join(folder, 'copy')]
  mkdirSync(data)
  writeMark(data)
  writeFileSync(join(data, 'identity.key'), Buffer.alloc(32, 1))
  writeFileSync(join(data, 'version'), '1\n')
  const ledger = Ledger.open({ directory: data })
  await ledger.event({ atMs: 1, name: 'begin', detail: {} })
  ledger.close()
  const people = People.open(data)
  new StoredSignIns(people, 10).add(Buffer.alloc(32, 7), SIGN_IN)
  people.close()
  backUp(data, copy, new Date(5))
  return { data, copy }
}

function editList(copy: string, edit: (list: List) => void): void {
  const list = JSON.parse(readFileSync(join(copy, MANIFEST), 'utf8'))
  edit(list)
  writeFileSync(join(copy, MANIFEST), JSON.stringify(list))
}

const without = (name: string) => (list: List) => {
  list.files = list.files.filter((each) => (each as { name: string }).name !== name)
}

test('F9: the list of a backup is not believed: it must be the files that are there', async () => {
  const { data, copy } = await backedUp()
  writeFileSync(join(data, 'mine'), 'as it was')
  const before = readdirSync(data).sort()
  const whole = readFileSync(join(copy, MANIFEST))
  const cases: [(list: List) => void, string][] = [
    [(list) => list.files.push(null), 'entry 4 of `files` is not a name'],
    [(list) => list.files.push(list.files[0]), 'twice'],
    [without('identity.key'), 'does not list `identity.key`'],
    [without('ledger.db'), 'does not list `ledger.db`'],
    [without('version'), 'holds `version`, which `backup.json` does not list'],
    [(list) => Object.assign(list, { head: { seq: 1 } }), '`at` or `head`'],
  ]
  for (const [edit, message] of cases) {
    editList(copy, edit)
    await expect(restoreBackup(copy, data, new Date(9))).rejects.toThrow(message)
    writeFileSync(join(copy, MANIFEST), whole)
  }
  expect(readdirSync(data).sort()).toEqual(before)
  expect(readdirSync(join(data, '..')).sort()).toEqual(['copy', 'data'])
})

test('F9: the old data is put back where a restore fails on its way', async () => {
  const { data, copy } = await backedUp()
  writeFileSync(join(data, 'mine'), 'as it was')
  // In the way of a file of the backup.
  rmSync(join(data, 'version'))
  mkdirSync(join(data, 'version'))
  await expect(restoreBackup(copy, data, new Date(9))).rejects.toThrow()
  expect(readFileSync(join(data, 'mine'), 'utf8')).toBe('as it was')
  expect(existsSync(join(data, 'ledger.db'))).toBe(true)
  expect(readdirSync(join(data, '..')).sort()).toEqual(['copy', 'data'])

  rmSync(join(data, 'version'), { recursive: true })
  const { movedTo } = await restoreBackup(copy, data, new Date(9))
  expect(readFileSync(join(movedTo as string, 'mine'), 'utf8')).toBe('as it was')
  expect(readdirSync(data)).not.toContain('mine')
  // Who signed out after the backup stays out.
  const people = People.open(data)
  expect(new StoredSignIns(people, 10).find(Buffer.alloc(32, 7), 2)).toBeUndefined()
  people.close()
})
