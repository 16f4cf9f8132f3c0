// Identifies the current boot of the machine. Pids, start times and the monotonic clock are valid
// only within one boot, so whatever is stored of them on disk includes this id.

import { readFileSync } from 'node:fs'

/** Empty if the system does not provide it. */
export function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
  } catch {
    return ''
  }
}
