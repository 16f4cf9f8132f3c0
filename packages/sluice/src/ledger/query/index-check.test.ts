// The query index compared with the ledger: whatever is deleted, changed or added in
// ledger-index.db is found by verify, and by the next query, which rebuilds the index and reports
// it.

import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { beforeAll, describe, expect, test } from 'vitest'
import { trustDataFolder } from '../../store/files/private-folder.ts'
import { openIndexReadOnly, openLedgerReadOnly } from '../chain/read.ts'
import { allowed, denied, judgement } from '../judgements.test-support.ts'
import { Ledger } from '../ledger.ts'
import { freshDirectory, freshDirectoryForAll } from '../samples.test-support.ts'
import { verifyLedger } from '../verify/verify.ts'
import { COUNTS_SUM } from './call-counts.ts'
import { sumUpTo } from './index-check.ts'
import { queryLedger } from './query.ts'
import { RecordIndex } from './record-index.ts'

let made = ''

beforeAll(async () => {
  made = freshDirectoryForAll()
  const ledger = Ledger.open({ directory: made })
  for (let n = 0; n < 40; n++) {
    const decision = n % 5 === 0 ? denied : allowed
    const call = judgement(n, { name: n % 3 === 0 ? 'delete_all' : 'list', decision })
    if (n % 5 === 0) await ledger.refuse(call)
    else ledger.outcome(await ledger.intent(call), { atMs: call.atMs, status: 'answered' })
    if (n % 10 === 0) await ledger.event({ atMs: call.atMs, name: 'policy', detail: { at: 'é' } })
  }
  ledger.close()
  look(made)
})

/** What a query finds, what verify reports before it, and why the index was rebuilt. */
function look(directory: string) {
  const database = openLedgerReadOnly(directory)
  const before = openIndexReadOnly(directory)
  const { problems } = verifyLedger(database, { index: before })
  before?.close()
  let why: string | undefined
  const index = new RecordIndex(directory, database, {
    onRebuilt: (message) => {
      why = message
    },
  })
  try {
    const asked = { name: 'delete_all', denied: true, limit: 100 }
    const { calls } = queryLedger(database, asked, index)
    expect(calls).toEqual(queryLedger(database, asked, undefined).calls)
    expect(verifyLedger(database, { index: index.database }).problems).toEqual([])
    return { problems, why, found: calls.length }
  } finally {
    index.close()
    database.close()
  }
}

function change(sql: string) {
  const directory = freshDirectory()
  cpSync(made, directory, { recursive: true })
  const index = new DatabaseSync(join(directory, 'ledger-index.db'))
  index.exec(sql)
  index.close()
  return look(directory)
}

/** An attacker who updates the sums too. */
const FORGED = `UPDATE tally SET calls = ${sumUpTo('calls', 1_000)}`

describe('F10: a changed index', () => {
  test('is not reported if nothing was changed', () => {
    expect(look(made)).toEqual({ problems: [], why: undefined, found: 3 })
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
      'INSERT INTO calls SELECT seq + 1000, at, principal, agent, session, server, method, name, tool, category, action, code, rule, reason, shadow, unknown FROM calls LIMIT 3',
    ],
    [
      'an outcome invented',
      'INSERT INTO outcomes SELECT 999, seq, status, duration, bytes, error FROM outcomes LIMIT 1',
    ],
    ['a count changed', 'UPDATE minutes SET n = n + 1'],
    ['a count deleted', 'DELETE FROM hours WHERE kind = 3'],
    [
      'calls counted with another decision, and the sum of counts',
      `UPDATE hours SET code = 1 WHERE action <> 1 AND kind = 1;
       UPDATE tally SET counts = ${COUNTS_SUM}`,
    ],
    [
      'counts and their sum',
      `UPDATE minutes SET n = n + 1; UPDATE tally SET counts = ${COUNTS_SUM}`,
    ],
    ['a trigger', 'CREATE TRIGGER t AFTER INSERT ON calls BEGIN DELETE FROM calls; END'],
    [
      'a view for a table',
      'ALTER TABLE calls RENAME TO c; CREATE VIEW calls AS SELECT * FROM c WHERE action = 1',
    ],
    ['the sums too', `DELETE FROM calls WHERE seq = 1; ${FORGED}`],
  ])('%s: verify and the next query say so, and the query finds everything', (_, sql) => {
    const { problems, why, found } = change(sql.replaceAll('"', "'"))
    expect(problems).toContainEqual(expect.objectContaining({ kind: 'index' }))
    expect(why).toBeTypeOf('string')
    expect(found).toBe(3)
  })

  test.each([
    ['no longer says up to where it goes', 'DELETE FROM through'],
    ['says another end', 'UPDATE through SET seq = seq - 3'],
  ])('that %s is made anew', (_, sql) => {
    expect(change(sql).found).toBe(3)
  })

  test('of two processes that write in turn stays correct', async () => {
    const directory = freshDirectory()
    cpSync(made, directory, { recursive: true })
    trustDataFolder(directory)
    const database = openLedgerReadOnly(directory)
    const quiet = new RecordIndex(directory, database, { isChecked: false })
    quiet.catchUp()
    const other = new DatabaseSync(join(directory, 'ledger-index.db'))
    other.exec("UPDATE words SET text = 'gone' WHERE text = 'list'")
    other.close()
    expect(look(directory).why).toBe('its words were changed')
    const ledger = Ledger.open({ directory })
    await ledger.refuse(judgement(99, { name: 'delete_all', decision: denied }))
    ledger.close()
    quiet.catchUp()
    quiet.close()
    database.close()
    expect(look(directory)).toEqual({ problems: [], why: undefined, found: 4 })
  })
})
