// Erases what is made again from the ledger: the indexes of queries, and the snapshot of counters and sessions. They have
// names in clear, so they are erased when somebody was forgotten.

import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { emptyIndex } from '@sluice/ledger/query/record-index'
import { indexFile, MERGED_FOLDER } from '@sluice/ledger/records/files'
import { STATE_FILE } from './state-file.ts'

export function eraseDerived(data: string): void {
  for (const folder of [data, join(data, MERGED_FOLDER)])
    if (existsSync(join(folder, indexFile(folder).name))) emptyIndex(folder)
  rmSync(join(data, STATE_FILE), { force: true })
}
