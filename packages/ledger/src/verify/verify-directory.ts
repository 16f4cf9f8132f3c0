// Verifies the ledger of a data directory with the signed checkpoints beside it. `sluice ledger verify`, the console's button and the gate's own
// regular verification call it.

import { join } from 'node:path'
import { type LocatedCheckpoint, readCheckpoints } from '../chain/checkpoint-file.ts'
import { openLedgerReadOnly } from '../chain/read.ts'
import { CHECKPOINTS_FILE } from '../records/files.ts'
import type { IntegrityProblem } from './verifier.ts'
import { type VerificationResult, type VerifyOptions, verifyLedger } from './verify.ts'

export type VerifyDirectoryOptions = Pick<VerifyOptions, 'noted' | 'checkpoints' | 'keys' | 'tree'>

export interface DirectoryVerification extends VerificationResult {
  /** How many checkpoints the chain was compared with. One that lies in several places counts once. */
  readonly checkpoints: number
}

/** `checkpoints` are further ones, from other places. */
export function verifyDirectory(
  directory: string,
  options: VerifyDirectoryOptions = {},
): DirectoryVerification {
  const bad: IntegrityProblem[] = []
  // A gate may be writing. Checkpoints are read first: they must not be ahead of the chain.
  const beside: LocatedCheckpoint[] = readCheckpoints(
    join(directory, CHECKPOINTS_FILE),
    ({ message }) => bad.push({ seq: 0, kind: 'unreadable', message }),
  )
  const checkpoints = [...beside, ...(options.checkpoints ?? [])]
  using ledger = openLedgerReadOnly(directory)
  const result = verifyLedger(ledger, { ...options, checkpoints })
  return {
    ...result,
    problems: [...bad, ...result.problems],
    checkpoints: new Set(checkpoints.map(({ checkpoint }) => checkpoint.signature)).size,
  }
}
