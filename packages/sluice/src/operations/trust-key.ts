// `sluice agents trust`, as the owner of the data directory does it: after the proof of a person, and
// recorded before a bundle of that installation can restore memory.

import type { JsonObject } from '@sluice/policy/core/json'
import { OperationError } from '../core/operation-error.ts'
import { type Person, toActor } from '../core/person.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { PUBLIC_KEY, readTrustedKeys, writeTrustedKeys } from '../store/files/trusted-keys.ts'
import { TRUSTED_KEYS_MAX } from '../store/limits.ts'

export interface TrustParts {
  readonly directory: string
  readonly ledger: Pick<Ledger, 'event'>
  readonly nowMs: () => number
}

export async function trustKey(
  { directory, ledger, nowMs }: TrustParts,
  { key, remove }: JsonObject,
  by: Person,
): Promise<JsonObject> {
  if (typeof key !== 'string' || !PUBLIC_KEY.test(key))
    throw new OperationError(
      `\`${String(key).slice(0, 80)}\` is no public key`,
      '64 hexadecimal digits, as `sluice agents trust` prints them on the other installation',
    )
  const others = readTrustedKeys(directory).filter((each) => each.key !== key)
  if (others.length >= TRUSTED_KEYS_MAX && remove !== true)
    throw new OperationError(
      `${TRUSTED_KEYS_MAX} installations are trusted already`,
      'remove one first: sluice agents trust KEY --remove',
    )
  const atMs = nowMs()
  const how = remove === true ? 'remove' : 'add'
  await ledger.event({ atMs, name: 'agents-trust', detail: { how, key, by: toActor(by) } })
  const added = { key, by: by.name, at: new Date(atMs).toISOString() }
  writeTrustedKeys(directory, remove === true ? others : [...others, added])
  return { key, trusted: remove !== true }
}
