// A monotonic clock: the uptime of the machine. Valid only within one boot, so it comes with the
// boot's id.

import { uptime } from 'node:os'
import { bootId } from '@sluice/ledger/store/files/boot-id'

export interface MachineClock {
  /** Empty if the system does not provide it: then only the wall clock is left. */
  readonly boot: string
  readonly upMs: () => number
}

export function machineClock(): MachineClock {
  return { boot: bootId(), upMs: () => Math.round(uptime() * 1_000) }
}
