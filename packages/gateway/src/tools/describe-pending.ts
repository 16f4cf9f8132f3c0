// The texts about a tool whose definition waits for a person: one for the audit log, and one for the
// caller. Called by decide-call.ts and refuse-call.ts.

import { PENDING_CHANGES_SHOWN_MAX } from './limits.ts'
import type { PendingDefinition } from './pins.ts'

/** Describes for people what changed, with the command that accepts it; or who refused it. */
export function describePending({ tool, because, changes, refused }: PendingDefinition): string {
  const { server, name } = tool.definition
  if (refused !== undefined)
    return `the definition of \`${name}\` was refused by ${refused.by}: ${refused.why === '' ? because : refused.why}`
  const shown = changes.slice(0, PENDING_CHANGES_SHOWN_MAX).join('; ')
  return `the definition of \`${name}\` waits for a person: ${because}${shown === '' ? '' : ` (${shown})`}; \`sluice pin --accept ${server}/${name}\` accepts it`
}

/**
 * Tells the caller that the definition of the tool waits for a person. The definition may be an attack on the model that reads this, so
 * nothing of it is repeated, and neither is the command that accepts it.
 */
export function describePendingToCaller({ tool, refused }: PendingDefinition): string {
  const definition = `the definition of \`${tool.definition.name}\``
  if (refused === undefined) return `${definition} is held until a person has accepted it`
  return `${definition} was refused by ${refused.by}${refused.why === '' ? '' : `: ${refused.why}`}`
}
