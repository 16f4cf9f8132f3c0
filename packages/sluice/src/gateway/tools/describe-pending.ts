// The reply to a caller of a tool whose definition waits for a person.

import { HELD_CHANGES_SHOWN_MAX } from './limits.ts'
import type { PendingDefinition } from './pins.ts'

/** The change, and the command that accepts it; or who refused. */
export function describePending({ tool, because, changes, refused }: PendingDefinition): string {
  const { server, name } = tool.definition
  if (refused !== undefined)
    return `the definition of \`${name}\` was refused by ${refused.by}: ${refused.why === '' ? because : refused.why}`
  const shown = changes.slice(0, HELD_CHANGES_SHOWN_MAX).join('; ')
  return `the definition of \`${name}\` waits for a person: ${because}${shown === '' ? '' : ` (${shown})`}; \`sluice pin --accept ${server}/${name}\` accepts it`
}
