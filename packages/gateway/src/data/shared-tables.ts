// The tables of a data directory that gates with a shared store have in common, and which of their columns
// each gate has for itself. Rows of them are authenticated, see store/postgres/shared-rows.ts.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { MirroredTable } from '@sluice/ledger/store/sqlite/mirrored-tables'

/** Of gate.db. `seq` only orders; each gate has seen a definition at its own time, and counts the uses of a
 * standing approval that it saw. */
export const SHARED_GATE_TABLES: readonly MirroredTable[] = [
  { name: 'freezes', key: ['scope', 'id'] },
  { name: 'documents', key: ['name'] },
  { name: 'pins', key: ['server', 'name'], omit: { at: 0 } },
  { name: 'refusals', key: ['server', 'name', 'digest'] },
  { name: 'approvals', key: ['id'], omit: { seq: undefined } },
  { name: 'approvals_standing', key: ['id'], omit: { used: 0 } },
  { name: 'approvals_denied', key: ['session', 'server', 'name'] },
]

/** Of identity.db. */
export const SHARED_GRANT_TABLES: readonly MirroredTable[] = [
  { name: 'grants', key: ['hash'], omit: { last_used_ms: undefined } },
]
export const SHARED_LOGIN_TABLES: readonly MirroredTable[] = [
  { name: 'logins', key: ['server', 'principal'] },
]
/** Of ledger-names.db. */
export const SHARED_NAME_TABLES: readonly MirroredTable[] = [{ name: 'names', key: ['token'] }]
export const SHARED_PEOPLE_TABLES: readonly MirroredTable[] = [
  { name: 'people', key: ['name'] },
  { name: 'passkeys', key: ['id'], omit: { used_ms: undefined } },
]

/** The file in a data directory that belongs to a shared store. */
export const SHARED_MARK = 'shared-store'

/** Whether a data directory is only a copy of what a shared store has. */
export function isSharedCopy(data: string): boolean {
  return existsSync(join(data, SHARED_MARK))
}
