// Names the current boot of the machine. Pids, start times and the monotonic clock mean something only
// within one boot, so whatever is kept of them on disk carries this id.

import { readFileSync } from 'node:fs'

/** Empty where the system does not tell. */
export function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
  } catch {
    return ''
  }
}
