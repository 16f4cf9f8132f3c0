// `sluice backup` and `sluice restore`: a copy of the data directory, made while the gate runs, and put
// back if none does. Both verify the record.

import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { backUp } from '@sluice/gateway/data/backup'
import { DataInUseError, DataLock } from '@sluice/gateway/data/data-lock'
import { restoreBackup } from '@sluice/gateway/data/restore'
import { DATA, type DataOptions, findData } from '../connect/find-data.ts'
import { PROOF, peopleOffline, provePersonAlone } from '../connect/prove-person.ts'
import { defineCommand } from '../terminal/define-command.ts'
import { CliError } from '../terminal/errors.ts'
import { plural, printable } from '../terminal/output.ts'

const BACKUP_EXAMPLES = `
Examples:
  sluice backup backups/2026-11-15
  sluice backup /mnt/safe/gate --data ./.sluice --json

Works while the gate runs. The folder must not be there yet, or be empty; it holds the gate's keys, so
keep it as safe as the data directory. The head it prints can be noted elsewhere (\`ledger verify\`).`

const RESTORE_EXAMPLES = `
Examples:
  sluice restore backups/2026-11-15
  sluice restore backups/2026-11-15 --data ./.sluice

Stop the gate first. Every file is compared with the digests of the backup, and the ledger is verified.
Asks for your PIN of the data that is there now (role admin), where anybody has one. What is in the data directory is moved beside it, to a folder whose name ends in the time.`

export const addBackup = defineCommand({
  name: 'backup',
  args: { '<folder>': 'where the copy goes' },
  options: DATA,
  examples: BACKUP_EXAMPLES,
  run: ({ folder, ...options }, output) => {
    const made = backUp(findData(options).data, resolve(folder), new Date())
    output.value({ folder: resolve(folder), ...made })
    output.line(`${output.paint('green', 'copied')}: ${plural(made.files.length, 'file')}`)
    output.dim(`head ${made.head.seq}:${made.head.hash}`)
  },
})

export const addRestore = defineCommand({
  name: 'restore',
  args: { '<folder>': 'a folder that `sluice backup` has made' },
  options: { ...DATA, ...PROOF },
  examples: RESTORE_EXAMPLES,
  run: async ({ folder, ...options }, output) => {
    const { data } = findData(options, { mayBeMissing: true })
    using _lock = takeLock(data)
    await proveRestore(data, folder, options)
    const done = await restoreBackup(resolve(folder), data, new Date())
    output.value({ data, ...done })
    output.line(`${output.paint('green', 'restored')}: as of ${printable(done.at)}`)
    if (done.movedTo !== null) output.line(`what was there is in ${done.movedTo}`)
  },
})

/** A backup brings back an older policy, older grants and older approvers. */
async function proveRestore(data: string, folder: string, options: DataOptions): Promise<void> {
  if (!existsSync(join(data, 'identity.db'))) return
  const { anybody } = await peopleOffline(data, { do: 'people' })
  if (anybody !== true) return
  const proof = await provePersonAlone(data, options)
  const request = { do: 'prove', what: `restore ${resolve(folder)}`, may: 'restore', proof }
  await peopleOffline(data, request)
}

function takeLock(data: string): DataLock {
  try {
    return DataLock.take(data)
  } catch (error) {
    if (!(error instanceof DataInUseError)) throw error
    throw new CliError('CLI_GATE', error.message, 'a backup is restored while no gate runs')
  }
}
