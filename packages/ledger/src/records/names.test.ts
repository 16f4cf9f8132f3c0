// The file with the names: when a row of it is on disk, and where a ledger finds it.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openLedgerReadOnly } from '../chain/read.ts'
import { Ledger } from '../ledger.ts'
import { freshDirectory } from '../samples.test-support.ts'
import { MERGED_FOLDER } from './files.ts'
import { findName, Names } from './names.ts'

test('a row is on disk before a record has its token: it survives the loss of power', () => {
  using names = new Names(freshDirectory())
  expect(names.database.prepare('PRAGMA synchronous').get()).toEqual({ synchronous: 2 })
})

test('a data directory that is called `cluster` has its own names', () => {
  const directory = join(freshDirectory(), MERGED_FOLDER)
  mkdirSync(directory, { mode: 0o700 })
  using names = new Names(directory)
  const token = names.know('ann.smith@example.com')
  Ledger.open({ directory }).close()
  using ledger = openLedgerReadOnly(directory)
  expect(findName(ledger, token)).toMatchObject({ name: 'ann.smith@example.com' })
})
