// What is known of a gate that does not run: who may approve, and what is frozen. For `sluice status` and
// `sluice doctor`; creates no files.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { People } from '@sluice/access/identity/people/people'
import type { PeopleList } from '@sluice/access/identity/person'
import { readGateStore } from '@sluice/gateway/data/gate-store'
import { type FreezeView, toFreezeView } from '@sluice/gateway/operations/freeze'
import { listPeople } from '@sluice/gateway/operations/people'
import { type Freeze, readFreezes } from '@sluice/gateway/state/freezes'
import { StoreError } from '@sluice/ledger/store/errors'

/** What `sluice status` prints if no gate runs, also as `--json`. */
export interface OfflineStatus extends PeopleList {
  readonly running: false
  /** The data directory. */
  readonly data: string
  readonly frozen: readonly FreezeView[]
}

/** What `sluice status` says if no gate runs. */
export function readOfflineStatus(data: string): OfflineStatus {
  return { running: false, data, frozen: frozenIn(data).map(toFreezeView), ...peopleIn(data) }
}

/** Looks only: a status makes no files. */
export function peopleIn(data: string): PeopleList {
  if (!existsSync(join(data, 'identity.db'))) return { people: [], anybody: false }
  using people = People.open(data)
  return listPeople({ people })
}

function frozenIn(data: string): Freeze[] {
  try {
    return readGateStore(data, readFreezes)
  } catch (error) {
    if (error instanceof StoreError && error.code === 'STORE_MISSING') return []
    throw error
  }
}
