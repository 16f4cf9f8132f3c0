// Whether a value stands against a call, by what it is used for and by its origin: the table of docs/concepts/guards.md,
// "What is held", a function for each level of `protect`.

import type { Origin, ProvenanceLookup } from '../calls/provenance.ts'
import type { Category } from '../calls/tools.ts'
import type { CheckedCall, CheckedValue, CollectedValues, ValueUse } from './collect-values.ts'
import { isMessage } from './is-message.ts'
import { isReachable, isThisMachine } from './is-reachable.ts'
import { isEverybody } from './names.ts'

/** The column "balanced" but for `nowhere`: the origins of which a value is held. */
const HELD_ORIGINS: Readonly<Record<ValueUse, ReadonlySet<Origin>>> = {
  address: new Set(['written field', 'own', 'steered', 'prose']),
  recipient: new Set(['own', 'steered', 'prose']),
  mention: new Set(['written field', 'own', 'steered', 'prose']),
  identifier: new Set(['steered', 'prose']),
  host: new Set(['steered', 'prose']),
  code: new Set(),
}

/** Under `balanced`: what a tool of a coding client does on this machine is for other rules. */
export function staysHere(
  { parent, key, use, reading }: CheckedValue,
  { isClientTool }: CheckedCall,
  { replaced }: CollectedValues,
): boolean {
  if (isClientTool !== true) return false
  const isOfEdit = parent.parent === undefined && (key === 'old_string' || key === 'new_string')
  return use === 'identifier' || isThisMachine(reading) || (isOfEdit && replaced.has(reading.whole))
}

/** Whether `balanced` holds the call because of this value. */
export function isHeldBalanced(
  value: CheckedValue,
  origin: Origin,
  call: CheckedCall,
  memory: ProvenanceLookup,
): boolean {
  const { use, reading } = value
  if (use === 'code') return false
  // That it stands in a field says nothing of whom the user wants to reach.
  if (origin !== 'user' && isEverybody(reading.whole)) return memory.hasProse
  if (origin === 'nowhere') return isHeldUnknown(value, call, memory)
  return HELD_ORIGINS[use].has(origin)
}

/** The column "balanced" for `nowhere`. Before a stranger's text was read such a value can only be the user's. */
function isHeldUnknown(
  { use, reading }: CheckedValue,
  call: CheckedCall,
  { hasProse, hasPrompt }: ProvenanceLookup,
): boolean {
  if (!hasProse) return false
  switch (use) {
    case 'address':
      return true
    case 'recipient':
      return hasPrompt
    case 'mention':
      // Programs are full of addresses that a model knows by itself; messages are not.
      return isReachable(reading) && (hasPrompt || reading.kind !== 'url' || isMessage(call))
    default:
      return false
  }
}

/** Calls of which every value decides something that cannot be taken back. */
const GRAVE: ReadonlySet<Category> = new Set(['Destructive', 'Financial', 'Execute'])

/**
 * Whether `strict` holds the call because of this value: only the user, the policy and the fields that it trusts vouch
 * for a value, whatever the form of an answer.
 */
export function isHeldStrictly(
  value: CheckedValue,
  origin: Origin,
  call: CheckedCall,
  memory: ProvenanceLookup,
): boolean {
  if (origin === 'user' || origin === 'trusted') return false
  const { use } = value
  // What a definition says is a text, too: it does not replace what the user said.
  if (origin === 'nowhere' && !memory.hasRead)
    return memory.hasPrompt && (use === 'address' || use === 'recipient')
  if (use !== 'identifier' || GRAVE.has(call.category)) return true
  return isHeldBalanced(value, origin, call, memory)
}
