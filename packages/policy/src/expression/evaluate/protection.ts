// The conditions behind `protect`: what of a call came from a stranger's text, and what of it the
// user did not ask for. One function for the condition and for the reason that is recorded.

import { TOOL_CALL } from '../../language/methods.ts'
import { checkValues, type ProtectionFinding } from '../../provenance/check-call.ts'
import { checkVerb } from '../../provenance/check-verb.ts'
import type { CheckedCall } from '../../provenance/collect-values.ts'
import type { EvaluationContext } from './evaluate.ts'

/** Names below `call`. */
export const PROTECTIONS = [
  'valueFromText',
  'valueUnproven',
  'destroysUnasked',
  'changesUnasked',
  'actsUnasked',
] as const
export type ProtectionName = (typeof PROTECTIONS)[number]
const NAMES: ReadonlySet<string | undefined> = new Set(PROTECTIONS)

export function isProtectionName(name: string | undefined): name is ProtectionName {
  return NAMES.has(name)
}

/** Undefined: nothing stands against the call. */
export function findProtection(
  name: ProtectionName,
  { call, facts, args, category, flow, roles }: EvaluationContext,
): ProtectionFinding | undefined {
  if (call.method !== TOOL_CALL || args === undefined) return undefined
  const { provenance, tool, callCategory } = facts
  if (provenance === undefined) return undefined
  const checked: CheckedCall = {
    name: call.name,
    category: callCategory ?? category,
    args,
    flow,
    roles,
    inputSchema: tool?.definition.inputSchema,
    isClientTool: tool?.isClientTool,
  }
  switch (name) {
    case 'valueFromText':
      return checkValues(checked, provenance, 'balanced')
    case 'valueUnproven':
      return checkValues(checked, provenance, 'strict')
    case 'destroysUnasked':
      return checkVerb(checked, provenance, 'destructive')
    case 'changesUnasked':
      return checkVerb(checked, provenance, 'unnamed')
    default:
      return checkVerb(checked, provenance, 'every')
  }
}
