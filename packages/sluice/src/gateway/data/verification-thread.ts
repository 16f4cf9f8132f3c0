// The thread of verify-regularly.ts: walks the whole chain once, compares it with the checkpoints beside it,
// and ends.

import { join } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { readCheckpoints } from '../../ledger/chain/checkpoint-file.ts'
import { openLedgerReadOnly } from '../../ledger/chain/read.ts'
import { CHECKPOINTS_FILE } from '../../ledger/records/files.ts'
import { verifyLedger } from '../../ledger/verify/verify.ts'

export interface VerificationRequest {
  readonly directory: string
  /** That checkpoints are signed with. */
  readonly key: string
}

export interface VerifiedChain {
  /** The first one; undefined if the chain is as it was written. */
  readonly problem: string | undefined
}

const { directory, key } = workerData as VerificationRequest
const bad: { readonly message: string }[] = []
// Before the ledger: none may be of records that are not read yet.
const checkpoints = readCheckpoints(join(directory, CHECKPOINTS_FILE), (error) => bad.push(error))
const ledger = openLedgerReadOnly(directory)
try {
  const { problems } = verifyLedger(ledger, { checkpoints, keys: [key] })
  const [first] = [...bad, ...problems]
  parentPort?.postMessage({ problem: first?.message } satisfies VerifiedChain)
} finally {
  ledger.close()
}
