// Who approved a refund, and why, by what a person knows of it: amount, tool and day.

import { expect, test } from 'vitest'
import { openLedgerReadOnly } from '../chain/read.ts'
import { decisionEntry } from '../decision-entries.test-support.ts'
import { Ledger } from '../ledger.ts'
import { freshDirectory } from '../samples.test-support.ts'
import { RecordIndex } from './record-index.ts'
import { runSql } from './run-sql.ts'

test('P6: the decision on a call is found by its recorded values', async () => {
  const directory = freshDirectory()
  const ledger = Ledger.open({ directory })
  const atMs = Date.parse('2026-11-18T10:00:00Z')
  for (const [n, amount] of [80, 120, 200].entries()) {
    const request = `request-${n}`
    const judged = { 'args.amount': amount, 'args.currency': 'EUR' }
    const held = { ...decisionEntry(n, { atMs, judged, approval: request }) }
    await ledger.refuse(held)
    const by = { by: 'root', kind: 'person', proof: 'pin', channel: 'terminal' }
    const detail = { request, ...by, comment: `ticket ${4_710 + n}` }
    const name = n === 2 ? 'approval-denied' : 'approval-approved'
    await ledger.event({ atMs: atMs + 60_000, name: 'approval-proposed', detail: { request } })
    await ledger.event({ atMs: atMs + 60_000, name, detail })
    if (n < 2) await ledger.intent({ ...held, atMs: atMs + 90_000 })
  }
  await ledger.intent(decisionEntry(9, { atMs, judged: { 'args.amount': 120 } }))
  ledger.close()
  using reader = openLedgerReadOnly(directory)
  const index = new RecordIndex(directory, reader)
  index.catchUp()
  index.close()
  const sql = `select action, args, decided, step, by, proof, comment from decided
    where name = 'create_refund' and args ->> 'args.amount' = 120 and time like '2026-11-18%' order by seq`
  const { rows } = await runSql(directory, sql)
  const verdict = ['2026-11-18T10:01:00.000Z', 'approved', 'root', 'pin', 'ticket 4711']
  const args = '{"args.amount":120.0,"args.currency":"EUR"}'
  expect(rows).toEqual([
    ['allow', args, ...verdict],
    ['allow', args, ...verdict],
  ])
  const all = await runSql(directory, "select comment from decided where step = 'denied'")
  expect(all.rows).toEqual([['ticket 4712']])
})
