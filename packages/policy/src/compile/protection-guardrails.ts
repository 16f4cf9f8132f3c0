// The guardrails that `protect` stands for. They are ordinary guardrails, so that `explain`, `prove`,
// `coverage` and the comparison of documents need to know nothing of presets. `strict` contains
// `balanced`: going from one to the other only adds.

import type { ProtectionLevel } from '../core/provenance.ts'
import { parseExpression } from '../expression/expression.ts'
import { TOOL_CALL } from '../language/methods.ts'
import { STRICT_ANSWERS } from '../model/answer-rule.ts'
import { APPROVAL_DEFAULT, type Guardrail } from '../model/rule.ts'

/** One guardrail of a preset, with what it stops and what it costs. */
export interface ProtectionPart {
  readonly level: ProtectionLevel
  readonly name: string
  readonly when: string
  readonly stops: string
  readonly costs: string
  /** Of this part alone, on the suite of docs/benchmarks/flows.md: stopped of 223 plain and encoded
   * attacks, touched of 50 tasks; with the prompt known, and without. */
  readonly measured: string
}

/** What `strict` does to answers, as a document would write it. */
export interface ProtectionAnswers extends Pick<ProtectionPart, 'stops' | 'costs'> {
  readonly redact: readonly string[]
  readonly links: readonly string[]
}

export const PROTECTION_PARTS: readonly ProtectionPart[] = [
  {
    level: 'balanced',
    name: 'protect: values from text',
    when: 'call.valueFromText',
    stops:
      "a change, or a read that sends, whose recipient, address, id or name stands only in a stranger's text, in an answer that a stranger wrote a part of, or nowhere",
    costs: 'tasks that act on what a message or a document says',
    measured: measure([90, 68, 5], [90, 59, 10]),
  },
  {
    level: 'balanced',
    name: 'protect: unasked destruction',
    when: 'call.destroysUnasked',
    stops: 'deleting, cancelling or removing something that really exists and nobody asked about',
    costs: 'without a known prompt, every destructive call after a text was read',
    measured: measure([18, 18, 1], [19, 19, 4]),
  },
  {
    level: 'balanced',
    name: 'protect: unasked changes',
    when: 'call.changesUnasked',
    stops:
      'a change whose verb, or a word for the same, is not in the prompt and that acts on something the user did not name',
    costs: 'tasks such as "follow the instructions"; nothing if the prompt is not known',
    measured: measure([84, 84, 2], [19, 19, 4]),
  },
  {
    level: 'strict',
    name: 'protect: unproven values',
    when: 'call.valueUnproven',
    stops:
      'an address, a recipient, a program, or an id of a call that destroys or pays, for which neither the user nor a field under `trust` vouches',
    costs: 'replies to the sender of a message, events with the participants of another event',
    measured: measure([94, 85, 8], [95, 86, 15]),
  },
  {
    level: 'strict',
    name: 'protect: unasked actions',
    when: 'call.actsUnasked',
    stops: 'every change whose verb, or a word for the same, is not in the prompt',
    costs: 'tasks such as "do what the list says"',
    measured: measure([84, 84, 6], [19, 19, 4]),
  },
]

type Measurement = readonly [plain: number, encoded: number, touched: number]

function measure(known: Measurement, unknown: Measurement): string {
  const [one, other] = [known, unknown].map(
    ([plain, encoded, touched]) =>
      `${plain} % of plain and ${encoded} % of encoded attacks, touches ${touched} of 50 tasks`,
  )
  return `alone it stops ${one}; without the prompt ${other}`
}

/** Undefined: `balanced` leaves answers as they are. */
export function describeProtectionAnswers(level: ProtectionLevel): ProtectionAnswers | undefined {
  if (level === 'balanced') return undefined
  const { redact, links = [] } = STRICT_ANSWERS
  return {
    redact,
    links,
    stops:
      'keys and card numbers that a model would read and could pass on; links and images that send',
    costs: 'an agent cannot edit a file that holds a key, nor follow a link in Markdown',
  }
}

const NO_LABELS: ReadonlySet<string> = new Set()

export function listProtectionParts(level: ProtectionLevel): ProtectionPart[] {
  return PROTECTION_PARTS.filter((part) => level === 'strict' || part.level === 'balanced')
}

/** `at`: if the document says `protect`. */
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
