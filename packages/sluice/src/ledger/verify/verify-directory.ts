// Verifies the ledger of a data directory with everything that lies beside it: signed checkpoints and the
// query index. `sluice ledger verify`, the console's button and the gate's own
// regular verification call it.

import { join } from 'node:path'
import { type LocatedCheckpoint, readCheckpoints } from '../chain/checkpoint-file.ts'
import { openIndexReadOnly, openLedgerReadOnly } from '../chain/read.ts'
import { CHECKPOINTS_FILE } from '../records/files.ts'
import type { IntegrityProblem } from './verifier.ts'
import { type VerificationResult, type VerifyOptions, verifyLedger } from './verify.ts'

export type VerifyDirectoryOptions = Pick<VerifyOptions, 'noted' | 'checkpoints' | 'keys' | 'tree'>

export interface DirectoryVerification extends VerificationResult {
  /** Checkpoints that the chain was compared with. */
  readonly checkpoints: number
}

/** `checkpoints` are further ones, from other places. */
export function verifyDirectory(
  directory: string,
  options: VerifyDirectoryOptions = {},
): DirectoryVerification {
  const bad: IntegrityProblem[] = []
  // A gate may be writing. Checkpoints and index are read first: neither may be ahead of the chain.
  const beside: LocatedCheckpoint[] = readCheckpoints(
    join(directory, CHECKPOINTS_FILE),
    ({ message }) => bad.push({ seq: 0, kind: 'unreadable', message }),
  )
  const checkpoints = [...beside, ...(options.checkpoints ?? [])]
  const index = openIndexReadOnly(directory)
  try {
    // One state of the index, from its first read on.
    index?.exec('BEGIN')
    index?.prepare('SELECT seq FROM through').get()
    const ledger = openLedgerReadOnly(directory)
    try {
      const result = verifyLedger(ledger, { ...options, checkpoints, index })
      return {
        ...result,
        problems: [...bad, ...result.problems],
        // The same one may lie beside the ledger and in another place.
        checkpoints: new Set(checkpoints.map(({ checkpoint }) => checkpoint.signature)).size,
      }
    } finally {
      ledger.close()
    }
  } finally {
    index?.close()
  }
}
