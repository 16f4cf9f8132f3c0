// The guardrails that `protect` stands for. They are ordinary guardrails, so that `explain`, `prove`,
// `coverage` and the comparison of documents need to know nothing of presets. `strict` contains
// `balanced`: going from one to the other only adds.

import type { ProtectionLevel } from '../core/provenance.ts'
import { parseExpression } from '../expression/expression.ts'
import { TOOL_CALL } from '../language/methods.ts'
import { APPROVAL_DEFAULT, type Guardrail } from '../model/rule.ts'

/** One guardrail of a preset, with what it stops and what it costs. */
export interface ProtectionPart {
  readonly level: ProtectionLevel
  readonly name: string
  readonly when: string
  readonly stops: string
  readonly costs: string
}

export const PROTECTION_PARTS: readonly ProtectionPart[] = [
  {
    level: 'balanced',
    name: 'protect: values from text',
    when: 'call.valueFromText',
    stops:
      "a change, or a read that sends, whose recipient, address, id or name stands only in a stranger's text, in a record that a stranger wrote, or nowhere",
    costs: 'tasks that act on what a message or a document says',
  },
  {
    level: 'balanced',
    name: 'protect: unasked destruction',
    when: 'call.destroysUnasked',
    stops: 'deleting, cancelling or removing something that really exists and nobody asked about',
    costs: 'without a known prompt, every destructive call after a text was read',
  },
  {
    level: 'balanced',
    name: 'protect: unasked changes',
    when: 'call.changesUnasked',
    stops:
      'a change whose verb, or a word for the same, is not in the prompt and that acts on something the user did not name',
    costs: 'tasks such as "follow the instructions"; nothing if the prompt is not known',
  },
  {
    level: 'strict',
    name: 'protect: unproven values',
    when: 'call.valueUnproven',
    stops:
      'the same for addresses in a record with any text, and for addresses in free text that stand nowhere',
    costs: 'replies to the sender of a message, events with the participants of another event',
  },
  {
    level: 'strict',
    name: 'protect: unasked actions',
    when: 'call.actsUnasked',
    stops: 'every change whose verb, or a word for the same, is not in the prompt',
    costs: 'tasks such as "do what the list says"',
  },
]

const NO_LABELS: ReadonlySet<string> = new Set()

export function listProtectionParts(level: ProtectionLevel): ProtectionPart[] {
  return PROTECTION_PARTS.filter((part) => level === 'strict' || part.level === 'balanced')
}

/** `at`: where the document says `protect`. */
export function buildProtectionGuardrails(level: ProtectionLevel, at: number): Guardrail[] {
  return listProtectionParts(level).map(({ name, when }) => ({
    // Below the key, which is a word: pointers are unique.
    pointer: `/protect/${when.slice('call.'.length)}`,
    at,
    reason: '',
    when: { expression: parseExpression(when, NO_LABELS), placeOf: () => at },
    limits: [],
    approval: APPROVAL_DEFAULT,
    extraArgs: true,
    shadow: false,
    name,
    action: 'require_approval',
    match: { methods: [TOOL_CALL] },
  }))
}
