// The keys that are derived from the key of a cluster, each for one purpose, and the mark of a data directory
// that belongs to a gate of a shared store.

import { hkdfSync } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SHARED_MARK } from './shared-tables.ts'

/** `sealing`: handles, approvals; `rows`: what gates share; `agents`: requests between gates; `bundles`:
 * exports; `alerts`: alerts that gates tell for each other. */
export type ClusterKeyPurpose =
  | 'sealing'
  | 'rows'
  | 'agents'
  | 'bundles'
  | 'alerts'
  | `connections to ${string}`

export function deriveKey(key: string, purpose: ClusterKeyPurpose): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', `sluice cluster ${purpose} 1`, 32))
}

/** As it is in the directory of a gate: which store it belongs to, and the name of the gate. */
export function describeMark(storeId: string, gate: string): string {
  return `${storeId} ${gate}\n`
}

export function writeMark(data: string, mark: string): void {
  writeFileSync(join(data, SHARED_MARK), mark, { mode: 0o600 })
}
