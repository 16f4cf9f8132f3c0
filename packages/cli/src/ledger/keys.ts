// Who may have signed the checkpoints of a ledger, and where they are: as --key and --checkpoint say,
// and as the data directory has it. Shared by verify, prove and key.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { InstallationKey } from '@sluice/access/identity/keys/installation-key'
import { deriveSigningKey } from '@sluice/access/identity/keys/signing-key'
import { isPublicKey } from '@sluice/ledger/chain/checkpoint'
import { type LocatedCheckpoint, readCheckpoints } from '@sluice/ledger/chain/checkpoint-file'
import type { LedgerError } from '@sluice/ledger/records/errors'
import { CHECKPOINTS_FILE } from '@sluice/ledger/records/files'
import { ArgumentError, CliError } from '../terminal/errors.ts'

/** The public key of the installation; undefined if the directory has none. Makes none. */
export function ownKey(directory: string): string | undefined {
  if (!existsSync(join(directory, 'identity.key'))) return undefined
  return deriveSigningKey(InstallationKey.at(directory)).publicKey
}

/** Keys themselves, or files that hold one. */
export function readKeys(words: readonly string[]): string[] {
  return words.map((one) => {
    if (isPublicKey(one)) return one
    const text = existsSync(one) ? readFileSync(one, 'utf8').trim() : ''
    if (isPublicKey(text)) return text
    throw new ArgumentError(
      `--key is \`${one}\`, which is neither a key nor a file with one`,
      'write it as `sluice ledger key` printed it: 43 characters',
    )
  })
}

/** Of all these files; each must be there and have one at least. */
export function readAllCheckpoints(files: readonly string[]): LocatedCheckpoint[] {
  return files.flatMap((file) => {
    const checkpoints = readCheckpoints(file)
    if (checkpoints.length > 0) return checkpoints
    throw new CliError(
      'CLI_FILE',
      `\`${file}\` is not there, or has no checkpoint`,
      'name a file of checkpoints, one a line',
    )
  })
}

export function checkpointsBeside(
  directory: string,
  onBad?: (error: LedgerError) => void,
): LocatedCheckpoint[] {
  return readCheckpoints(join(directory, CHECKPOINTS_FILE), onBad)
}
