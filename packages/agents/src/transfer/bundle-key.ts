// The key that bundles of this installation are signed with: made once, kept in the data directory
// for its owner only. Anyone who has it can make memories that this installation trusts.

import { type KeyObject, randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makePrivateFolder } from '@sluice/ledger/store/files/private-folder'
import { AgentError } from '../shared/errors.ts'
import { privateKey, publicHex } from './bundle.ts'

const SEED_BYTES = 32

/** The key of an installation. */
export interface BundleKey {
  readonly key: KeyObject
  /** The public key, hex. */
  readonly publicKey: string
  /** What the installation is called in exports. */
  readonly name: string
}

/** `source` is the seed, if several gates have the same key; or the data directory. */
export function loadBundleKey(source: string | Uint8Array): BundleKey {
  if (typeof source !== 'string') return toBundleKey(source)
  const directory = source
  const file = join(directory, 'agents.key')
  makePrivateFolder(directory)
  try {
    writeFileSync(file, randomBytes(SEED_BYTES), { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  return toBundleKey(readFileSync(file))
}

function toBundleKey(seed: Uint8Array): BundleKey {
  if (seed.length !== SEED_BYTES)
    throw new AgentError('AGENT_DAMAGED', '`agents.key` in the data directory is not a key')
  const key = privateKey(seed)
  const publicKey = publicHex(key)
  return { key, publicKey, name: publicKey.slice(0, 16) }
}
