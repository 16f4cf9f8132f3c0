// Judges one call by where the values of its arguments came from: the rules behind `protect`. A call
// that changes something, or a read that sends, is held if a value that decides what it does came
// from text that a stranger wrote, or from nowhere. Pure, total and bounded.

import type { Origin, ProtectionLevel, ProvenanceLookup } from '../calls/provenance.ts'
import { isSentTo } from './argument-roles.ts'
import {
  type CheckedCall,
  type CheckedValue,
  collectValues,
  type ValueUse,
} from './collect-values.ts'
import { isHeldBalanced, isHeldStrictly, staysHere } from './is-held.ts'
import { getToolVerb } from './verbs.ts'
import { toPathText } from './visit-arguments.ts'

/** Why a call is held. */
export interface ProtectionFinding {
  /** `args.recipients[0]`; absent for a verb. */
  readonly path?: string
  readonly origin?: Origin
  readonly reason: string
}

/** Whether origins are checked: what a read that sends nothing is given decides nothing but what comes back. */
export function isSink(call: CheckedCall): boolean {
  if (call.category !== 'Read' || call.flow === 'external') return true
  return collectValues(call, true).values.length > 0
}

/** The first value that stands against the call; undefined if none does. */
export function checkValues(
  call: CheckedCall,
  memory: ProvenanceLookup,
  level: ProtectionLevel,
): ProtectionFinding | undefined {
  if (call.flow === 'internal') return undefined
  const isRead = call.category === 'Read' && call.flow !== 'external'
  const collected = collectValues(call, isRead)
  const { values, isTooLarge } = collected
  if (isTooLarge && (!isRead || sendsByRole(call)))
    return { reason: 'it has more or longer arguments than are checked for their origin' }
  let isKnown = values.length === 0
  for (const value of values) {
    const origin = memory.originOf(value.reading)
    isKnown ||= origin !== 'nowhere'
    const isBad =
      level === 'strict'
        ? isHeldStrictly(value, origin, call, memory)
        : !staysHere(value, call, collected) && isHeldBalanced(value, origin, call, memory)
    if (isBad) return { path: toPathText(value), origin, reason: describe(value, origin, memory) }
  }
  // Other changes may name something new, such as a file.
  if (isKnown || isRead || !memory.hasProse || !getToolVerb(call.name).isPurchase) return undefined
  const [first] = values as [CheckedValue]
  const path = toPathText(first)
  return { path, origin: 'nowhere', reason: describe(first, 'nowhere', memory) }
}

function sendsByRole({ roles }: CheckedCall): boolean {
  return roles !== undefined && [...roles.values()].some(isSentTo)
}

const USES: Readonly<Record<ValueUse, string>> = {
  address: 'the address',
  recipient: 'the recipient',
  identifier: 'the value',
  host: 'the host',
  mention: 'an address in',
  code: 'the text',
}

/** Which value it is, where it was read, and what would let the call pass. */
function describe(value: CheckedValue, origin: Origin, memory: ProvenanceLookup): string {
  const { use, reading, isDeclared, isSecret } = value
  const by = isDeclared === true ? ' (by `destinations`)' : ''
  const shown = isSecret === true || use === 'code' ? '' : ` (\`${shorten(reading.whole)}\`)`
  const tool = memory.sourceOf(reading)
  const answer = tool === undefined ? 'an answer' : `an answer of \`${tool}\``
  const where: Readonly<Record<Origin, string>> = {
    user: 'was named by the user',
    trusted: `stands in a field of ${answer} that the policy trusts`,
    field: `stands in ${answer}, and in no field that the policy trusts`,
    own: 'was brought by an earlier call of this session, which vouches for no recipient',
    'shared field': `is a field of ${answer} that also holds text`,
    'written field': `is a field of ${answer} that a stranger may have written`,
    steered: `comes from ${answer}, whose arguments stood in a text`,
    prose: `stands in the text of ${answer}, and in no field that the policy trusts`,
    nowhere: 'was named by nobody and stands in no answer',
  }
  return `${USES[use]} \`${toPathText(value)}\`${by}${shown} ${where[origin]}: the user can name it, or an approver release the call`
}

function shorten(text: string): string {
  const plain = text.replace(/[\p{C}\p{Z}`]+/gu, ' ')
  return plain.length > VALUE_SHOWN_CHARS_MAX ? `${plain.slice(0, VALUE_SHOWN_CHARS_MAX)}…` : plain
}

const VALUE_SHOWN_CHARS_MAX = 60
