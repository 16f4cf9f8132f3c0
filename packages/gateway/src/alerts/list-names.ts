// Names that servers and callers chose, as one fact of an alert: few, short, and none that reads like
// several. Channels escape what they show. Pure.

import { ALERT_NAME_LENGTH_MAX, ALERT_NAMES_MAX } from './limits.ts'

/** `a, b and 3 more`. */
export function listNames(names: readonly string[]): string {
  const shown = names.slice(0, ALERT_NAMES_MAX).map(toShownName).join(', ')
  const left = names.length - ALERT_NAMES_MAX
  return left > 0 ? `${shown} and ${left} more` : shown
}

const PLAIN = /^[\w./:@#-]+$/

/** In quotes if it has spaces or commas: otherwise one name could pass for two. */
function toShownName(name: string): string {
  const short =
    name.length > ALERT_NAME_LENGTH_MAX ? `${name.slice(0, ALERT_NAME_LENGTH_MAX)}…` : name
  return PLAIN.test(name) ? short : JSON.stringify(short)
}
