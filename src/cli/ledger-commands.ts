// `sluice ledger …`: its commands in the order help shows them. Loaded only where one is asked for
// (all-commands.ts).

import type { Command } from 'commander'
import type { Answer } from './answer.ts'
import { addLedgerExport } from './ledger-export.ts'
import { addLedgerKey, addLedgerProve } from './ledger-prove.ts'
import { addLedgerQuery } from './ledger-query.ts'
import { addLedgerReport } from './ledger-report.ts'
import { addLedgerTail } from './ledger-tail.ts'
import { addLedgerVerify } from './ledger-verify.ts'

export function addLedger(program: Command, answer: Answer): void {
  const ledger = program
    .command('ledger')
    .description('what happened: every call, with what was decided on it')
    .helpCommand(false)
  for (const add of [
    addLedgerTail,
    addLedgerQuery,
    addLedgerReport,
    addLedgerExport,
    addLedgerVerify,
    addLedgerProve,
    addLedgerKey,
  ])
    add(ledger, answer)
}
