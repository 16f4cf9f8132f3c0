// The query index is rebuilt from the ledger: whatever was deleted, changed or added in ledger-index.db is
// gone after that.

import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { beforeAll, describe, expect, test } from 'vitest'
import { openLedgerReadOnly } from '../chain/read.ts'
import { allowed, decisionEntry, denied } from '../decision-entries.test-support.ts'
import { Ledger } from '../ledger.ts'
import { freshDirectory, freshDirectoryForAll } from '../samples.test-support.ts'
import { trustDataFolder } from '../store/files/private-folder.ts'
import { queryLedger } from './query.ts'
import { emptyIndex, RecordIndex } from './record-index.ts'

let made = ''
let unchanged: ReturnType<typeof look>

beforeAll(async () => {
  made = freshDirectoryForAll()
  const ledger = Ledger.open({ directory: made })
  for (let n = 0; n < 40; n++) {
    const decision = n % 5 === 0 ? denied : allowed
    const call = decisionEntry(n, { name: n % 3 === 0 ? 'delete_all' : 'list', decision })
    if (n % 5 === 0) await ledger.refuse(call)
    else ledger.outcome(await ledger.intent(call), { atMs: call.atMs, status: 'answered' })
    if (n % 10 === 0) await ledger.event({ atMs: call.atMs, name: 'policy', detail: { at: 'é' } })
  }
  ledger.close()
  unchanged = look(made, { isRebuilt: false })
})

/** What a query finds with the index, rebuilt or as it is. */
function look(directory: string, { isRebuilt }: { readonly isRebuilt: boolean }) {
  if (isRebuilt) emptyIndex(directory)
  const database = openLedgerReadOnly(directory)
  const index = new RecordIndex(directory, database)
  try {
    const asked = { name: 'delete_all', denied: true, limit: 100 }
    const { calls } = queryLedger(database, asked, index)
    const tables = ['words', 'calls', 'outcomes', 'events', 'minutes', 'hours']
    const rows = tables.map((table) => index.database.prepare(`SELECT * FROM ${table}`).all())
    const schema = index.database.prepare('SELECT type, name FROM sqlite_schema').all()
    return { found: calls.length, content: [rows, schema] }
  } finally {
    index.close()
    database.close()
  }
}

function change(sql: string): string {
  const directory = freshDirectory()
  cpSync(made, directory, { recursive: true })
  const index = new DatabaseSync(join(directory, 'ledger-index.db'))
  index.exec(sql)
  index.close()
  return directory
}

describe('F10: a changed index', () => {
  test('is the same after it was rebuilt if nothing was changed', () => {
    expect(unchanged.found).toBe(3)
    expect(look(made, { isRebuilt: true })).toEqual(unchanged)
  })

  test.each([
    [
      'calls deleted',
      'DELETE FROM calls WHERE name = (SELECT id FROM words WHERE text = "delete_all")',
    ],
    ['one call deleted', 'DELETE FROM calls WHERE seq = (SELECT max(seq) FROM calls)'],
    ['a verdict changed', 'UPDATE calls SET action = 1, code = 2 WHERE action <> 1'],
    ['a time changed', 'UPDATE calls SET at = at - 1 WHERE seq = 1'],
    ['a word changed', "UPDATE words SET text = 'delete_alt' WHERE text = 'delete_all'"],
    [
      'two words swapped',
      `UPDATE words SET text = 'x' WHERE text = 'delete_all';
       UPDATE words SET text = 'delete_all' WHERE text = 'list';
       UPDATE words SET text = 'list' WHERE text = 'x'`,
    ],
    ['outcomes deleted', 'DELETE FROM outcomes'],
    ['a duration changed', 'UPDATE outcomes SET duration = 99'],
    ['an event changed', "UPDATE events SET detail = '{}'"],
    [
      'rows invented',
      'INSERT INTO calls SELECT seq + 1000, at, principal, agent, session, server, method, name, tool, category, action, code, rule, reason, shadow, parent, approval, became, unknown FROM calls LIMIT 3',
    ],
    [
      'an outcome invented',
      'INSERT INTO outcomes SELECT 999, seq, status, duration, bytes, error FROM outcomes LIMIT 1',
    ],
    ['a count changed', 'UPDATE minutes SET n = n + 1'],
    ['a count deleted', 'DELETE FROM hours WHERE kind = 3'],
    ['a trigger', 'CREATE TRIGGER t AFTER INSERT ON calls BEGIN DELETE FROM calls; END'],
    [
      'a view for a table',
      'ALTER TABLE calls RENAME TO c; CREATE VIEW calls AS SELECT * FROM c WHERE action = 1',
    ],
  ])('%s: nothing of it is left after the index was rebuilt', (_, sql) => {
    const directory = change(sql.replaceAll('"', "'"))
    expect(look(directory, { isRebuilt: true })).toEqual(unchanged)
  })

  test.each([
    ['no longer says up to where it goes', 'DELETE FROM through'],
    ['says another end', 'UPDATE through SET seq = seq - 3'],
  ])('that %s is made anew', (_, sql) => {
    expect(look(change(sql), { isRebuilt: false }).found).toBe(3)
  })

  test('of two processes that write in turn stays correct', async () => {
    const directory = freshDirectory()
    cpSync(made, directory, { recursive: true })
    trustDataFolder(directory)
    const database = openLedgerReadOnly(directory)
    const quiet = new RecordIndex(directory, database)
    quiet.catchUp()
    expect(look(directory, { isRebuilt: true })).toEqual(unchanged)
    const ledger = Ledger.open({ directory })
    await ledger.refuse(decisionEntry(99, { name: 'delete_all', decision: denied }))
    ledger.close()
    quiet.catchUp()
    quiet.close()
    database.close()
    expect(look(directory, { isRebuilt: false }).found).toBe(4)
  })
})
