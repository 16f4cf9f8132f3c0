// What parts of the gate's state are made of that are stored, recorded and logged.

import type { DatabaseSync } from 'node:sqlite'
import type { Ledger } from '@sluice/ledger/ledger'
import type { Log } from './log.ts'

export interface StateOptions {
  readonly store: DatabaseSync
  readonly ledger: Pick<Ledger, 'event'>
  readonly log: Log
  readonly nowMs: () => number
}
