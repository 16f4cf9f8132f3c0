// The digests that records have of arguments: the running gate makes them, because only it has the key of its
// cluster. Without one the command makes them itself with the key of the data directory.

import { InstallationKey } from '@sluice/access/identity/keys/installation-key'
import { deriveRecordKey } from '@sluice/gateway/data/open-ledger'
import { isSharedCopy } from '@sluice/gateway/data/shared-tables'
import { KEY_DIGESTS } from '@sluice/gateway/operations/key-digests'
import { DIGESTS_KEYED_MAX } from '@sluice/gateway/operations/limits'
import { KeyedDigest } from '@sluice/ledger/records/keyed-digest'
import { CliError } from '../terminal/errors.ts'
import { askGate } from './gate-socket.ts'

/** One for each plain digest, which records of older versions have. */
export async function keyDigests(
  data: string,
  digests: readonly string[],
): Promise<readonly string[]> {
  const keyed: string[] = []
  for (let at = 0; at < digests.length; at += DIGESTS_KEYED_MAX) {
    const some = digests.slice(at, at + DIGESTS_KEYED_MAX)
    const answer = await askGate(data, { do: KEY_DIGESTS.socket ?? '', digests: some })
    if (answer === undefined) return keyOwn(data, digests)
    keyed.push(...(answer.keyed as string[]))
  }
  return keyed
}

function keyOwn(data: string, digests: readonly string[]): string[] {
  if (isSharedCopy(data))
    throw new CliError(
      'CLI_GATE',
      'the digests of arguments need the key of the cluster',
      'start a gate of it, and name its data directory with --data',
    )
  const key = new KeyedDigest(deriveRecordKey(InstallationKey.at(data)))
  return digests.map((digest) => key.ofDigest(digest))
}
