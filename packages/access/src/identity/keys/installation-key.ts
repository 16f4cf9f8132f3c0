// The key of an installation: 32 random bytes in the data directory, for its owner only. Everything
// that is sealed or encrypted there has its own key, derived from this one and a purpose. Used by
// handle-sealer.ts and by the store of upstream logins.

import { hkdfSync } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createKeyFile, KEY_BYTES } from '@sluice/ledger/store/files/key-file'
import { makePrivateFolder } from '@sluice/ledger/store/files/private-folder'
import { IdentityError } from '../errors.ts'

export type KeyPurpose =
  | 'seal'
  | 'logins'
  | 'checkpoints'
  | 'approvals'
  | 'links'
  | 'sign-in states'
  | 'sign-in nonces'
  | 'sign-in challenges'
  | 'sessions'
  | 'traces'
  | 'session memory'
  | 'records'

export class InstallationKey {
  readonly #key: Buffer

  constructor(key: Buffer) {
    this.#key = key
  }

  /** Creates the key if it is missing. Two concurrent processes end up with the same one. */
  static at(directory: string): InstallationKey {
    const file = join(directory, 'identity.key')
    return new InstallationKey(readKey(file) ?? makeKey(directory, file))
  }

  derive(purpose: KeyPurpose, bytes: number): Buffer {
    return Buffer.from(hkdfSync('sha256', this.#key, '', `sluice ${purpose} 1`, bytes))
  }
}

function readKey(file: string): Buffer | undefined {
  let key: Buffer
  let mode: number
  try {
    mode = statSync(file).mode & 0o777
    key = readFileSync(file)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    throw new IdentityError('IDENTITY_KEY', `\`${file}\`: ${message}`, 'check its owner and mode')
  }
  // Not repaired: anyone who could read it has it, and a key that came with a copied folder has
  // such a mode.
  if (process.platform !== 'win32' && (mode & 0o077) !== 0)
    throw new IdentityError(
      'IDENTITY_KEY',
      `others may read the key \`${file}\` (mode ${mode.toString(8)})`,
      `if it is yours and no one else could read it: chmod 600 ${file}; otherwise move it away and log in again`,
    )
  if (key.length === KEY_BYTES) return key
  throw new IdentityError(
    'IDENTITY_KEY',
    `\`${file}\` has ${key.length} bytes, a key has ${KEY_BYTES}`,
    'restore it from a backup, or move it away: logins are then to be made again',
  )
}

function makeKey(directory: string, file: string): Buffer {
  try {
    makePrivateFolder(directory)
    return createKeyFile(file)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const made = code === 'EEXIST' ? readKey(file) : undefined
    if (made !== undefined) return made
    const help = 'check owner and mode of the data directory'
    throw new IdentityError('IDENTITY_KEY', `\`${file}\` cannot be written: ${message}`, help)
  }
}
