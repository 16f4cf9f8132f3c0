// What the ledger commands share: opening the ledger of a data directory for looking only, times
// as a person writes them, and errors of the modules below as the command line's own.

import type { DatabaseSync } from 'node:sqlite'
import type { Command } from 'commander'
import { isSharedCopy } from '../../gateway/data/shared-tables.ts'
import { openLedgerReadOnly } from '../../ledger/chain/read.ts'
import { originReader, type RecordOrigin } from '../../ledger/merged/origins.ts'
import { LedgerError } from '../../ledger/records/errors.ts'
import { StoreError } from '../../store/errors.ts'
import { CliError } from '../../terminal/errors.ts'
import type { Output } from '../../terminal/output.ts'

/** Runs `work` on the ledger of a data directory and closes it, whatever happens. */
export function withLedger<T>(directory: string, work: (ledger: DatabaseSync) => T): T {
  return withCliErrors(() => {
    const ledger = openLedgerReadOnly(directory)
    try {
      return work(ledger)
    } finally {
      ledger.close()
    }
  })
}

/** The options of commands that read the records of this gate, or with --store those of all gates. */
export interface RecordsOptions {
  data: string
  store?: string
  copy?: string
}

export function addStoreOptions(command: Command): Command {
  return command
    .option('--store <address>', 'the records of all gates in the shared store at postgres://…')
    .option(
      '--copy <dir>',
      'with --store: keep the copy of the records there, so that the next command fetches only new ones',
    )
}

export interface OpenRecords {
  readonly directory: string
  readonly ledger: DatabaseSync
  /** With --store: whose record it is. */
  readonly originOf: (seq: number) => RecordOrigin | undefined
}

export async function withRecords<T>(
  { data, store, copy }: RecordsOptions,
  output: Output,
  work: (records: OpenRecords) => T | Promise<T>,
): Promise<T> {
  if (store === undefined && copy !== undefined)
    throw new CliError('CLI_ARGUMENT', '--copy needs --store', 'name the shared store too')
  try {
    if (store !== undefined) {
      const { withCopy } = await import('./with-store.ts')
      return await withCopy({ store, copy }, output, (directory, ledger) =>
        work({ directory, ledger, originOf: originReader(ledger) }),
      )
    }
    const ledger = openLedgerReadOnly(data)
    if (isSharedCopy(data))
      output.remark('note: the records of this gate; --store shows those of all gates')
    try {
      return await work({ directory: data, ledger, originOf: () => undefined })
    } finally {
      ledger.close()
    }
  } catch (error) {
    throw toCommandError(error)
  }
}

/** Errors of the ledger as errors of the command line, with their codes. */
export function withCliErrors<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw toCommandError(error)
  }
}

export function toCommandError(error: unknown): unknown {
  if (error instanceof StoreError || error instanceof LedgerError)
    return new CliError('CLI_FILE', `${error.message} (${error.code})`, error.help)
  return error
}
