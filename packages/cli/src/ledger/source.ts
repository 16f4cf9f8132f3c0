// What the ledger commands share: opening the ledger of a data directory for looking only, or a copy of the
// records of all gates.

import type { DatabaseSync } from 'node:sqlite'
import { isSharedCopy } from '@sluice/gateway/data/shared-tables'
import { openLedgerReadOnly } from '@sluice/ledger/chain/read'
import { originReader, type RecordOrigin } from '@sluice/ledger/merged/origins'
import { RecordIndex } from '@sluice/ledger/query/record-index'
import type { OptionsOf } from '../terminal/define-command.ts'
import { ArgumentError } from '../terminal/errors.ts'
import type { Output } from '../terminal/output.ts'

/** Runs `work` on the ledger of a data directory and closes it, whatever happens. */
export function withLedger<T>(directory: string, work: (ledger: DatabaseSync) => T): T {
  using ledger = openLedgerReadOnly(directory)
  return work(ledger)
}

/** Runs `work` on the query index of a ledger, which is brought up to date first. */
export function withIndex<T>(
  directory: string,
  ledger: DatabaseSync,
  work: (index: RecordIndex) => T,
): T {
  using index = new RecordIndex(directory, ledger)
  index.catchUp()
  return work(index)
}

/** The options of commands that read the records of this gate, or with --store those of all gates. */
export const STORE = {
  '--store <address>': 'the records of all gates in the shared store at postgres://…',
  '--copy <dir>':
    'with --store: keep the copy of the records there, so that the next command fetches only new ones',
} as const

export interface OpenRecords {
  readonly directory: string
  readonly ledger: DatabaseSync
  /** With --store: whose record it is. */
  readonly originOf: (seq: number) => RecordOrigin | undefined
}

export async function withRecords<T>(
  { data, store, copy }: OptionsOf<typeof STORE> & { readonly data: string },
  output: Output,
  work: (records: OpenRecords) => T | Promise<T>,
): Promise<T> {
  if (store === undefined && copy !== undefined)
    throw new ArgumentError('--copy needs --store', 'name the shared store too')
  if (store !== undefined) {
    const { withCopy } = await import('./with-store.ts')
    return withCopy({ store, copy }, output, (directory, ledger) =>
      work({ directory, ledger, originOf: originReader(ledger) }),
    )
  }
  using ledger = openLedgerReadOnly(data)
  if (isSharedCopy(data))
    output.remark('note: the records of this gate; --store shows those of all gates')
  return await work({ directory: data, ledger, originOf: () => undefined })
}
