// What rules in shadow mode would have done with a call, as one text: for lines, tables and the index. Pure.

import type { DecisionRecord } from './record.ts'

/** Describes what rules in shadow mode would have done; empty if none matched. */
export function shadowText(shadow: DecisionRecord['decision']['shadow']): string {
  return shadow
    .map(({ rule, action, reason }) => `${action} by ${rule}${reason === '' ? '' : ` (${reason})`}`)
    .join(', ')
}
