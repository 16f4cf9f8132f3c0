// `sluice agents trust`: after the proof of a person, and recorded before a bundle of that installation
// can restore memory.

import { toActor } from '@sluice/access/identity/person'
import {
  PUBLIC_KEY,
  readTrustedKeys,
  writeTrustedKeys,
} from '@sluice/ledger/store/files/trusted-keys'
import { TRUSTED_KEYS_MAX } from '@sluice/ledger/store/limits'
import { BOOLEAN, required, text } from '@sluice/policy/document/build-shape'
import { OperationError } from '@sluice/policy/structures/operation-error'
import { commandOperation } from './operation.ts'
import { REQUIRED_ROLES } from './verify-person.ts'

export const TRUST_KEY = commandOperation({
  name: 'agents.trust',
  summary: 'other installations whose bundles restore memory here',
  role: REQUIRED_ROLES.trust,
  proof: 'fresh',
  socket: 'agents-trust',
  changes: true,
  input: {
    key: required(text(1_000), 'its public key'),
    remove: { shape: BOOLEAN, doc: 'stop trusting it' },
  },
  run: async ({ data, nowMs, record }, { key, remove = false }, { by }) => {
    if (!PUBLIC_KEY.test(key))
      throw new OperationError(
        `\`${key.slice(0, 80)}\` is not a public key`,
        '64 hexadecimal digits, as `sluice agents trust` prints them on the other installation',
      )
    const others = readTrustedKeys(data).filter((each) => each.key !== key)
    if (others.length >= TRUSTED_KEYS_MAX && !remove)
      throw new OperationError(
        `${TRUSTED_KEYS_MAX} installations are trusted already`,
        'remove one first: sluice agents trust KEY --remove',
      )
    const how = remove ? 'remove' : 'add'
    await record('agents-trust', { how, key, by: toActor(by) })
    const added = { key, by: by.name, at: new Date(nowMs()).toISOString() }
    writeTrustedKeys(data, remove ? others : [...others, added])
    return { key, trusted: !remove }
  },
})
