// A clock that nobody can set: how long the machine has been up. Means something only within one boot,
// so it comes with the boot's id.

import { uptime } from 'node:os'
import { bootId } from '../../store/files/boot-id.ts'

export interface MachineClock {
  /** Empty where the system does not tell: then only the wall clock is left. */
  readonly boot: string
  readonly upMs: () => number
}

export function machineClock(): MachineClock {
  return { boot: bootId(), upMs: () => Math.round(uptime() * 1_000) }
}
