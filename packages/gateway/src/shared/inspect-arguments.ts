// What the policy wants to know of the arguments of a call: whether they hold a secret, the number of a card
// or account, or a planted value. Short ones are looked through when a rule asks. Long ones are looked through
// in slices before the call is decided, so that other calls go on meanwhile; the decision finds what was found.

import { findCanary, findCanarySteps } from '@sluice/guard/find-canary'
import { holdsSecret, holdsSecretSteps } from '@sluice/guard/inspect-answer'
import { ARGUMENTS_AT_ONCE_LENGTH_MAX } from '@sluice/guard/limits'
import { holdsData, holdsDataSteps } from '@sluice/guard/locate-data'
import type { Call } from '@sluice/policy/calls/call'
import type { NumberKind } from '@sluice/policy/calls/data-kinds'
import { type CompiledPolicy, listCanaries } from '@sluice/policy/model/policy'
import { findReads } from '@sluice/policy/model/policy-reads'
import type { JsonObject, JsonValue } from '@sluice/policy/values/json'
import type { ParsedMembers } from '@sluice/protocol/message'
import { runInSlices, takeTurn } from './slices.ts'

interface ArgumentFindings {
  readonly kinds: Map<'secret' | NumberKind, boolean>
  /** By the values that were looked for. */
  readonly canaries: Map<ReadonlyMap<string, string>, string | undefined>
}

/** Of long arguments only. */
const FINDINGS = new WeakMap<JsonObject, ArgumentFindings>()

/** Undefined if nothing has to be looked for before the call is decided. */
export function inspectArguments(
  call: Call,
  params: ParsedMembers | undefined,
  policy: CompiledPolicy,
): Promise<void> | undefined {
  const kinds = findReads(policy).kinds
  const canaries = listCanaries(policy)
  if (kinds.size === 0 && canaries.size === 0) return undefined
  return lookThrough(call, sentBeside(params), { kinds, canaries })
}

/** What is looked through in slices. */
export function hasLongMembers(params: ParsedMembers | undefined): boolean {
  if (params === undefined) return false
  let length = 0
  for (const written of params.text.values()) length += written.length
  return length > ARGUMENTS_AT_ONCE_LENGTH_MAX
}

interface LookedFor {
  readonly kinds: ReadonlySet<'secret' | NumberKind>
  readonly canaries: ReadonlyMap<string, string>
}

async function lookThrough(
  { args, name }: Call,
  beside: JsonValue,
  { canaries, kinds }: LookedFor,
): Promise<void> {
  const findings: ArgumentFindings = { kinds: new Map(), canaries: new Map() }
  await takeTurn()
  for (const kind of kinds) {
    const sent = [args, beside]
    const steps = kind === 'secret' ? holdsSecretSteps(sent) : holdsDataSteps(sent, kind)
    findings.kinds.set(kind, await runInSlices(steps, 'decide'))
  }
  if (canaries.size > 0) {
    const steps = findCanarySteps([args, name, beside], canaries)
    findings.canaries.set(canaries, await runInSlices(steps, 'decide'))
  }
  FINDINGS.set(args, findings)
}

/** What goes to the server beside the arguments: `_meta`, and members that no protocol names. */
export function sentBeside(params: ParsedMembers | undefined): JsonValue {
  if (params === undefined) return null
  const { arguments: _arguments, ...beside } = params.value
  return beside
}

export function argumentsHoldSecret(args: JsonObject, params: ParsedMembers | undefined): boolean {
  return FINDINGS.get(args)?.kinds.get('secret') ?? holdsSecret([args, sentBeside(params)])
}

export function argumentsHoldNumber(
  args: JsonObject,
  params: ParsedMembers | undefined,
  kind: NumberKind,
): boolean {
  return FINDINGS.get(args)?.kinds.get(kind) ?? holdsData([args, sentBeside(params)], kind)
}

export function findCanaryInCall(
  { args, name }: Call,
  beside: JsonValue,
  canaries: ReadonlyMap<string, string>,
): string | undefined {
  const found = FINDINGS.get(args)?.canaries
  if (found?.has(canaries) === true) return found.get(canaries)
  return findCanary([args, name, beside], canaries)
}
