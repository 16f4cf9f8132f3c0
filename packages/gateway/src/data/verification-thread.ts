// The thread of ledger-verification.ts: verifies the ledger of a data directory once, and ends.

import { parentPort, workerData } from 'node:worker_threads'
import { verifyDirectory } from '@sluice/ledger/verify/verify-directory'

export interface VerificationRequest {
  readonly directory: string
  /** That checkpoints are signed with. */
  readonly key: string
}

export interface VerifiedLedger {
  readonly records: number
  /** The newest record that a checkpoint covers; 0 if there is none. */
  readonly signedUpTo: number
  /** The first ones, in words; none if the chain is as it was written. */
  readonly problems: readonly string[]
}

const { directory, key } = workerData as VerificationRequest
const { records, checkpoint, problems } = verifyDirectory(directory, { keys: [key] })
parentPort?.postMessage({
  records,
  signedUpTo: checkpoint,
  problems: problems.map(({ message }) => message),
} satisfies VerifiedLedger)
