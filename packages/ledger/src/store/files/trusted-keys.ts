// Public keys of other installations whose agent bundles may restore memory here: a small file in the
// data directory, written whole by the owner of that directory. An unreadable file trusts nobody.

import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isObject } from '@sluice/policy/values/json'
import { TRUSTED_KEYS_MAX } from '../limits.ts'

export interface TrustedKey {
  /** Ed25519, 32 bytes in lowercase hex. */
  readonly key: string
  readonly by: string
  readonly at: string
}

const FILE = 'agents-trusted.json'
export const PUBLIC_KEY = /^[0-9a-f]{64}$/

export function readTrustedKeys(directory: string): TrustedKey[] {
  try {
    const read: unknown = JSON.parse(readFileSync(join(directory, FILE), 'utf8'))
    if (!Array.isArray(read)) return []
    const keys = read.filter(
      (each): each is TrustedKey =>
        isObject(each) && typeof each.key === 'string' && PUBLIC_KEY.test(each.key),
    )
    return keys.slice(0, TRUSTED_KEYS_MAX)
  } catch {
    return []
  }
}

export function writeTrustedKeys(directory: string, keys: readonly TrustedKey[]): void {
  const beside = join(directory, `${FILE}.new`)
  writeFileSync(beside, `${JSON.stringify(keys, null, 2)}\n`, { mode: 0o600 })
  renameSync(beside, join(directory, FILE))
}
